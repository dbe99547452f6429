import { hash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import {
  type APIActionRowComponent,
  type APIButtonComponentWithCustomId,
  type APIButtonComponentWithURL,
  type APIComponentInMessageActionRow,
  type APIEmbed,
  type APISelectMenuOption,
  type APIStringSelectComponent,
  ButtonStyle,
  ComponentType,
} from "discord-api-types/v10";
import { LRUCache } from "lru-cache";
import type { ExplorerProblem } from "../explorer/errors.js";
import { type ScreenAddress, withParameter, wordsOf } from "../screens/addresses.js";
import type { Choice, ExplorerPage, Field, Link, Menu, Tone, View } from "../screens/view.js";
import { DEFAULT_COIN, withCoin } from "../text/coin.js";
import { escapeText, type Markdown, md, timestamp } from "../text/markdown.js";
import { clean, cut, cutEscaped } from "../text/plain.js";
import { perObject } from "../util/per-object.js";
import { LIMITS } from "./limits.js";
import { LINK_SLOTS, type Links, MENU_SLOTS, PAGER_SLOTS, SLOT } from "./links.js";
import { withMentions } from "./mentions.js";

/** Maximum length of a thread's name (Discord: 100 characters). */
const MAX_THREAD_NAME = 100;

const COLOURS: Readonly<Record<Tone, number>> = {
  neutral: 0x5865f2,
  good: 0x2f9e58,
  bad: 0xd83c3e,
  warning: 0xe0a021,
};

/**
 * The content of a message, for a reply, an edit or a post. It pings no one. `attachments` is empty, so that an edit removes the
 * previous files.
 */
export interface MessagePayload {
  /** The text of the notification on a phone, which does not show embeds. */
  readonly content?: string;
  readonly embeds: APIEmbed[];
  readonly components: APIActionRowComponent<APIComponentInMessageActionRow>[];
  readonly files: { readonly attachment: Buffer; readonly name: string; readonly description?: string }[];
  readonly attachments: [];
  readonly allowedMentions: { readonly parse: [] };
}

/** Renders views as messages within Discord's limits, even if the explorer returns unexpected data. */
export interface Renderer {
  /** Renders a screen, with buttons to refresh it, to turn its pages and to go back. */
  screen(view: View, here: ScreenAddress, back: ScreenAddress | undefined): MessagePayload;
  /** Renders a message that is not a screen, without refresh and page buttons. */
  message(view: View): MessagePayload;
  /** Returns the title for use outside of messages: in threads, calendar events and choices. */
  title(text: string): string;
  /** Returns the mark that identifies a delivery's message in one of its links. It is also the nonce (Discord: 25 characters). */
  mark(deliveryId: string): string;
  /** Words for the option that a command needs to be about this network. Empty if the bot serves only one. */
  readonly networkOption: Markdown;
}

/** Returns the length that a title may have so that it is not cut, in UTF-16 units. */
export const titleRoom = ({ title }: Pick<Renderer, "title">): number => MAX_THREAD_NAME - title("").length;

/** Options of a renderer. */
interface RendererOptions {
  /** Discord's ids by command path. Empty until the commands are registered. */
  readonly commands?: () => ReadonlyMap<string, string>;
  /** Returns the URL of a thing's page in the web explorer, if one is set. */
  readonly pageOf?: (thing: ExplorerPage) => string | undefined;
  /** The network's name if messages show it. */
  readonly label?: string | undefined;
  readonly networkOption?: Markdown;
  /** Name of the coin's unit. */
  readonly coin?: string | undefined;
  /** Added to marks, so that messages of different networks in one channel have different marks. */
  readonly salt?: () => string | undefined;
}

/** Parts of a message's text besides the view's own words. */
interface MessageWords {
  readonly commands: ReadonlyMap<string, string>;
  readonly coin: string;
  readonly label: string | undefined;
}

/** The last message of a view, with the addresses in its buttons and the commands in its text. */
interface RenderedView {
  readonly at: string;
  readonly paths: MessageWords["commands"];
  readonly message: MessagePayload;
}

/**
 * Number of views whose messages are kept. A few screens show many people the same view (per-object.ts). Each view keeps its readings
 * in memory.
 */
const MAX_RENDERED = 5;

/** Renders views, with links made by `links`. */
export function createRenderer(links: Links, options: RendererOptions = {}): Renderer {
  const {
    commands = () => new Map<string, string>(),
    pageOf = () => undefined,
    label,
    networkOption = md``,
    coin = DEFAULT_COIN,
    salt = () => undefined,
  } = options;
  // Choices lead to things that the explorer has listed, never to the text that a person typed.
  const toOption = perObject((choice: Choice) => menuOption(choice, links, coin));
  const renderNew = (view: View, words: MessageWords, here?: ScreenAddress, back?: ScreenAddress) => {
    const writer = view.isNothing ? links.unkept : links;
    const page = view.explorerPage && pageOf(view.explorerPage);
    const rows = toRows(view, here, back, writer, page, toOption);
    return toMessage(view, rows, words, here !== undefined);
  };
  const rendered = new LRUCache<View, RenderedView>({ max: MAX_RENDERED });
  const render = (view: View, here?: ScreenAddress, back?: ScreenAddress): MessagePayload => {
    const paths = commands();
    const addressKey = JSON.stringify([here, back]);
    const lastRendered = rendered.get(view);
    if (lastRendered?.at === addressKey && lastRendered.paths === paths) return lastRendered.message;
    const message = renderNew(view, { commands: paths, coin, label }, here, back);
    if (!view.files) rendered.set(view, { at: addressKey, paths, message });
    return message;
  };
  return {
    screen: render,
    message: (view) => render(view),
    title: (text) => withLabel(withCoin(text, coin), label, MAX_THREAD_NAME, cut),
    mark: (id) => hash("sha256", `${salt() ?? ""}${id}`, "base64url").slice(0, 25),
    networkOption,
  };
}

/** Returns a file's name. Files of different networks have different names. */
const fileName = (name: string, label: string | undefined): string =>
  label === undefined ? name : `${label.replace(/[^\w-]+/g, "-")}-${name}`;

/** Appends the network's name to a title. If the result is too long, only the title is cut. */
function withLabel(title: string, label: string | undefined, most: number, shorten = cutEscaped): string {
  const labelSuffix = label === undefined ? "" : ` · ${label}`;
  return `${shorten(title, most - labelSuffix.length)}${labelSuffix}`;
}

function toMessage(
  view: View,
  components: ButtonRow[],
  words: MessageWords,
  hasRefresh: boolean,
): MessagePayload {
  const { coin, label } = words;
  const attachedFiles = view.picture ? [view.picture, ...(view.files ?? [])] : (view.files ?? []);
  const payload: MessagePayload = {
    embeds: [toEmbed(view, words, hasRefresh)],
    components,
    files: attachedFiles.map(({ content, description, ...file }) => {
      const attachment = { attachment: content, ...file, name: fileName(file.name, label) };
      return description === undefined
        ? attachment
        : { ...attachment, description: plain(withCoin(description, coin), LIMITS.fileText) };
    }),
    attachments: [],
    allowedMentions: { parse: [] },
  };
  if (!view.notification) return payload;
  const notification = withCoin(view.notification.toString(), coin);
  const content = withLabel(notification, label && escapeText(label).toString(), LIMITS.title);
  return { content, ...payload };
}

/** Returns a message without its pictures, for a retry if Discord rejects it because of one. */
export function withoutPictures(payload: MessagePayload): MessagePayload {
  const embeds = payload.embeds.map(({ thumbnail, image, ...rest }) => rest);
  const files = payload.files.filter(({ name }) => !name.endsWith(".png"));
  return { ...payload, embeds, files };
}

/** Prepares text that Discord does not format, such as a label: clean, on one line, cut, and never empty. */
function plain(text: string, most: number): string {
  return cut(clean(text).replace(/\s+/g, " ").trim(), most).trim() || "—";
}

/** Joins as many whole lines as fit, with "…" in place of the rest. If the first line does not fit, it is cut. */
function fitLines(lines: readonly string[], most: number): string {
  let text = "";
  for (const line of lines) {
    const nextText = text ? `${text}\n${line}` : line;
    if (nextText.length > most - 2) return text ? `${text}\n…` : cut(line, most);
    text = nextText;
  }
  return text;
}

/** Short reasons why the newest data is not available. */
const WHY: Partial<Record<ExplorerProblem, string>> = {
  busy: "many requests are waiting",
  spent: "you sent a lot of requests in the last minute",
  slow: "the explorer is slow",
  limited: "the explorer is limiting requests",
  refused: "the explorer rejects this bot's key",
  withheld: "this bot has no access to newer data",
  unreadable: "I can't read the explorer's newer data",
  rejected: "the explorer rejects the request",
};

/** Returns the age of the data as one line of small print. Discord keeps the relative time up to date. */
function ageLine({ readings = [] }: View, hasRefresh: boolean): Markdown | undefined {
  if (readings.length === 0) return undefined;
  const oldestReading = timestamp(Math.min(...readings.map((reading) => reading.fetchedAt)));
  const problem = readings.find((reading) => reading.problem)?.problem;
  if (problem)
    return md`-# ⚠️ Older data, from ${oldestReading}: ${WHY[problem] ?? "the explorer isn't answering"}`;
  // Newer data is being fetched, but this message does not change by itself.
  const isStale = readings.some((reading) => reading.stale);
  return isStale && hasRefresh
    ? md`-# Explorer data from ${oldestReading}; press Refresh to update`
    : md`-# Explorer data from ${oldestReading}`;
}

/** Space reserved for the age, so that it is never cut off. */
const AGE_ROOM = 200;

// Builds raw JSON instead of using discord.js's builders. They would validate text again that is already within the limits, at
// several times the cost of everything else (docs/benchmarks.md). The sandbox validates every message of every test.
function toEmbed(view: View, words: MessageWords, hasRefresh: boolean): APIEmbed {
  const label = words.label && escapeText(words.label).toString();
  const title =
    view.title &&
    (withLabel(withCoin(view.title.toString(), words.coin).trim(), label, LIMITS.title).trim() || "—");
  let remainingRoom = LIMITS.embedTotal - (title?.length ?? 0) - AGE_ROOM;

  const fields: ReturnType<typeof fitField>[] = [];
  for (const field of (view.fields ?? []).slice(0, LIMITS.fields)) {
    const fitted = fitField(field, words);
    remainingRoom -= fitted.name.length + fitted.value.length;
    if (remainingRoom < 0) break;
    fields.push(fitted);
  }

  const bodyLines = (view.body ?? []).flatMap((line) => linesOf(line, words));
  const text = fitLines(
    bodyLines,
    Math.min(LIMITS.description - AGE_ROOM, Math.max(remainingRoom, 0)),
  ).trim();
  const description = [text, ageLine(view, hasRefresh)?.toString()].filter(Boolean).join("\n");
  const embed: APIEmbed = { color: COLOURS[view.tone ?? "neutral"] };
  if (title) embed.title = title;
  if (description) embed.description = description;
  if (fields.length > 0) embed.fields = fields;
  if (view.thumbnail) embed.thumbnail = { url: view.thumbnail };
  if (view.picture) embed.image = { url: `attachment://${fileName(view.picture.name, words.label)}` };
  return embed;
}

/** Returns a text's lines, with command mentions and the coin's unit filled in. */
const linesOf = (text: Markdown, { commands, coin }: MessageWords): string[] =>
  withCoin(withMentions(text.toString(), commands), coin).split("\n");

function fitField({ name, value, inline = false }: Field, words: MessageWords) {
  return {
    name: plain(withCoin(name, words.coin), LIMITS.fieldName),
    value: fitLines(linesOf(value, words), LIMITS.fieldValue).trim() || "—",
    inline,
  };
}

/** Encodes addresses. Either `Links` or its `unkept`. */
type Writer = Links["unkept"];
type ButtonRow = APIActionRowComponent<APIComponentInMessageActionRow>;
/** Returns a choice as a menu option, or `undefined` if its address is too long. */
type ToOption = (choice: Choice) => APISelectMenuOption | undefined;

const rowOf = (components: APIComponentInMessageActionRow[]): ButtonRow => ({
  type: ComponentType.ActionRow,
  components,
});

function toRows(
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
  return {
    type: ComponentType.Button,
    style: ButtonStyle.Secondary,
    custom_id: links.customId(slot, to, mark),
    label: plain(label, LIMITS.buttonLabel),
    ...(emoji ? { emoji: { name: emoji } } : {}),
  };
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
    placeholder: plain(placeholder, LIMITS.menuPlaceholder),
    options,
  };
  return rowOf([menu]);
}

function menuOption(
  { label, hint, emoji, chosen, to }: Choice,
  links: Writer,
  coin: string,
): APISelectMenuOption | undefined {
  const value = links.encode(to, LIMITS.menuText);
  if (value.length > LIMITS.menuText) return undefined;
  return {
    label: plain(withCoin(label, coin), LIMITS.menuText),
    value,
    ...(hint ? { description: plain(withCoin(hint, coin), LIMITS.menuText) } : {}),
    ...(emoji ? { emoji: { name: emoji } } : {}),
    ...(chosen ? { default: true } : {}),
  };
}
