import { isDeepStrictEqual } from "node:util";
import {
  type APIActionRowComponent,
  type APIButtonComponentWithCustomId,
  type APIButtonComponentWithURL,
  type APIComponentInMessageActionRow,
  type APISelectMenuOption,
  type APIStringSelectComponent,
  ButtonStyle,
  ComponentType,
} from "discord-api-types/v10";
import { type ScreenAddress, withParameter, wordsOf } from "../screens/addresses.js";
import type { Choice, Link, Menu, View } from "../screens/view.js";
import { withCoin } from "../text/coin.js";
import { oneLine } from "../text/plain.js";
import { LIMITS } from "./limits.js";
import { LINK_SLOTS, type Links, MENU_SLOTS, PAGER_SLOTS, SLOT } from "./links.js";

/** Encodes addresses. Either `Links` or its `unkept`. */
type Writer = Links["unkept"];
/** A row of buttons, or a menu. */
export type ButtonRow = APIActionRowComponent<APIComponentInMessageActionRow>;
type ToOption = (choice: Choice) => APISelectMenuOption | undefined;

const rowOf = (components: APIComponentInMessageActionRow[]): ButtonRow => ({
  type: ComponentType.ActionRow,
  components,
});

/**
 * Returns a view's buttons and menus within Discord's limits: the pager, menus, and one or two rows of buttons. They are raw JSON,
 * for the same reason as the embed (toEmbed).
 * @param here address of the screen, for Refresh and the pager. `undefined` for a message that is not a screen
 * @param page URL of the thing's page in the web explorer
 */
export function toRows(
  view: View,
  here: ScreenAddress | undefined,
  back: ScreenAddress | undefined,
  links: Writer,
  page: string | undefined,
  toOption: ToOption,
) {
  const rows: ButtonRow[] = [];
  if (here && view.pager && view.pager.pages > 1) rows.push(pagerRow(view.pager, here, links));
  for (const [index, menu] of (view.menus ?? []).slice(0, MENU_SLOTS.length).entries()) {
    const row = menuRow(menu, MENU_SLOTS[index] ?? "", toOption);
    if (row) rows.push(row);
  }
  const target = back ?? view.parent;
  const otherLinks = (view.links ?? []).filter(({ to }) => !isDeepStrictEqual(to, target));
  const buttons: (APIButtonComponentWithCustomId | APIButtonComponentWithURL)[] = [];
  if (here) buttons.push(button({ label: "Refresh", emoji: "🔄", to: here }, SLOT.refresh, links));
  if (target)
    buttons.push(
      button({ label: `Back to ${wordsOf(target.screen)}`, emoji: "↩️", to: target }, SLOT.back, links),
    );
  for (const [index, slot] of LINK_SLOTS.entries()) {
    const link = otherLinks[index];
    if (link) buttons.push(button(link, slot, links));
  }
  if (page !== undefined) buttons.push(pageButton(page));
  for (let start = 0; start < buttons.length; start += LIMITS.buttonsPerRow) {
    rows.push(rowOf(buttons.slice(start, start + LIMITS.buttonsPerRow)));
  }
  return rows.slice(0, LIMITS.rows);
}

function button(
  { label, emoji, to, mark }: Link,
  slot: string,
  links: Writer,
): APIButtonComponentWithCustomId {
  const component: APIButtonComponentWithCustomId = {
    type: ComponentType.Button,
    style: ButtonStyle.Secondary,
    custom_id: links.customId(slot, to, mark),
    label: oneLine(label, LIMITS.buttonLabel),
  };
  if (emoji) component.emoji = { name: emoji };
  return component;
}

const pageButton = (url: string): APIButtonComponentWithURL => ({
  type: ComponentType.Button,
  style: ButtonStyle.Link,
  url,
  label: "Open in explorer",
  emoji: { name: "🔗" },
});

function pagerRow(
  { page, pages }: { page: number; pages: number },
  here: ScreenAddress,
  links: Writer,
): ButtonRow {
  const leads = [
    ["⏮", 1],
    ["◀", page - 1],
    ["▶", page + 1],
    ["⏭", pages],
  ] as const;
  const arrows = leads.map(([emoji, to], index) => {
    const target = withParameter(here, "page", Math.min(Math.max(to, 1), pages)) ?? here;
    return {
      type: ComponentType.Button,
      style: ButtonStyle.Secondary,
      custom_id: links.customId(PAGER_SLOTS[index] ?? "", target),
      emoji: { name: emoji },
      disabled: to < 1 || to > pages || to === page,
    } satisfies APIButtonComponentWithCustomId;
  });
  // The dialog takes its address from this button. Page 1 is the default and is left out.
  const jump: APIButtonComponentWithCustomId = {
    type: ComponentType.Button,
    style: ButtonStyle.Primary,
    custom_id: links.customId(SLOT.jump, withParameter(here, "page", 1) ?? here),
    label: `${page} / ${pages}`,
  };
  return rowOf([...arrows.slice(0, 2), jump, ...arrows.slice(2)]);
}

function menuRow({ placeholder, choices }: Menu, slot: string, toOption: ToOption): ButtonRow | undefined {
  const byValue = new Map<string, APISelectMenuOption>();
  for (const choice of choices) {
    const option = toOption(choice);
    if (option && !byValue.has(option.value)) byValue.set(option.value, option);
    if (byValue.size === LIMITS.menuOptions) break;
  }
  const options = [...byValue.values()];
  if (options.length === 0) return undefined;
  const menu: APIStringSelectComponent = {
    type: ComponentType.StringSelect,
    custom_id: slot,
    placeholder: oneLine(placeholder, LIMITS.menuPlaceholder),
    options,
  };
  return rowOf([menu]);
}

/** Returns a choice as a menu option. `undefined` if its address is too long (Discord: 100 characters). */
export function menuOption(
  { label, hint, emoji, chosen, to }: Choice,
  links: Writer,
  coin: string,
): APISelectMenuOption | undefined {
  const value = links.encode(to, LIMITS.menuText);
  if (value.length > LIMITS.menuText) return undefined;
  const option: APISelectMenuOption = { label: oneLine(withCoin(label, coin), LIMITS.menuText), value };
  if (hint) option.description = oneLine(withCoin(hint, coin), LIMITS.menuText);
  if (emoji) option.emoji = { name: emoji };
  if (chosen) option.default = true;
  return option;
}
