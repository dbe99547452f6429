import { ActionRowBuilder, ModalBuilder, TextInputBuilder } from "@discordjs/builders";
import {
  type ButtonInteraction,
  ComponentType,
  type Message,
  MessageFlags,
  type ModalSubmitInteraction,
  PermissionFlagsBits,
  type StringSelectMenuInteraction,
  TextInputStyle,
} from "discord.js";
import { MAX_SCREENS } from "../explorer/paging.js";
import {
  type ActionName,
  type Address,
  isActionName,
  isScreen,
  type ScreenAddress,
  withParameter,
} from "../screens/addresses.js";
import { StateError } from "../storage/store.js";
import { PersonError } from "../util/person-error.js";
import { withTimeout } from "../util/timeouts.js";
import { LIMITS } from "./limits.js";
import { type Links, networkIn, placeIn, SLOT } from "./links.js";

const OLDER_VERSION =
  "This button is from an older version of the bot. Use the slash command instead; `/` lists them.";
const JUMP_INPUT = "page";
/** How long opening a dialog may wait for the state, in ms: it can only be the first answer (Discord: 3 s). */
const DIALOG_MS = 2_000;

/** Something that was clicked, chosen or filled in, and that follows a link. */
export type Click = ButtonInteraction | StringSelectMenuInteraction | ModalSubmitInteraction;

/** A link as a click follows it. */
export interface Followed {
  readonly to: Address;
  /** Where its way back leads. */
  readonly back: ScreenAddress | undefined;
  readonly refresh: boolean;
}

interface Clicked {
  readonly link: string;
  readonly slot: string;
  /** What was typed into the dialog for a page number. */
  readonly page?: string;
}

function clickedOn(click: Click): Clicked {
  if (click.isStringSelectMenu()) return { link: click.values[0] ?? "", slot: click.customId };
  const clicked = { link: click.customId.slice(1), slot: click.customId.charAt(0) };
  return click.isModalSubmit()
    ? { link: clicked.link, slot: SLOT.jump, page: click.fields.getTextInputValue(JUMP_INPUT) }
    : clicked;
}

/** The action that a click is for, as far as its link's name tells; undefined where it opens a screen. */
export function actionIn(
  click: Click,
): { readonly name: ActionName; readonly isOfNews: boolean } | undefined {
  const { place: name, query } = placeIn(clickedOn(click).link);
  if (name === undefined || !isActionName(name)) return undefined;
  return { name, isOfNews: query.split("&").includes("on=news") };
}

/** What stands for the network that a click's link is of; undefined where it names none. */
export const networkOf = (click: Click): string | undefined => networkIn(clickedOn(click).link);

/** Whether a button opens the dialog for a page number. */
export const opensDialog = (click: Click): click is ButtonInteraction =>
  click.isButton() && click.customId.startsWith(SLOT.jump);

/** Only whose answer it is may change it; a message without an owner, such as an announcement, nobody may. */
export const mayUpdate = (message: Message, userId: string): boolean =>
  message.flags.has(MessageFlags.Ephemeral) || message.interactionMetadata?.user.id === userId;

/** Whether somebody may answer for an alert in a server: as holder of the role that it pings, or as who may manage the server. */
export function mayAnswer({ member, memberPermissions }: Click, roleId: string | null): boolean {
  if (memberPermissions?.has(PermissionFlagsBits.ManageGuild)) return true;
  if (!member || roleId === null) return false;
  return Array.isArray(member.roles) ? member.roles.includes(roleId) : member.roles.cache.has(roleId);
}

/** How many pages a message's list has, as its page button says ("3 / 12"). */
function pagesOn(message: Message | null): number {
  const buttons = (message?.components ?? []).flatMap((row) =>
    row.type === ComponentType.ActionRow ? row.components : [],
  );
  const jump = buttons.find(
    (each) => each.type === ComponentType.Button && each.customId?.startsWith(SLOT.jump),
  );
  const label = jump && "label" in jump ? jump.label : undefined;
  return Number(label?.split("/").at(-1)) || MAX_SCREENS;
}

const linksOn = (message: Message): string[] =>
  message.components.flatMap((row) =>
    row.type === ComponentType.ActionRow
      ? row.components.flatMap((component) =>
          "customId" in component && component.customId ? [component.customId] : [],
        )
      : [],
  );

/** Whether two addresses are the same thing on another page, or in another order. */
function isSameThing(a: Address, b: Address): boolean {
  const idOf = ({ parameters }: Address) => ("id" in parameters ? parameters.id : undefined);
  return a.screen === b.screen && idOf(a) === idOf(b);
}

/** Back leads to the message that was clicked; within one screen's pages it stays what it was. */
async function backFrom(
  message: Message,
  slot: string,
  to: Address,
  links: Links,
): Promise<ScreenAddress | undefined> {
  if (slot === SLOT.back) return undefined;
  const onMessage = linksOn(message);
  const linkIn = async (wanted: string) => {
    const link = onMessage.find((id) => id.startsWith(wanted));
    const found = link === undefined ? undefined : await links.decode(link.slice(1));
    return found && isScreen(found) ? found : undefined;
  };
  const current = await linkIn(SLOT.refresh);
  return current && isSameThing(current, to) ? linkIn(SLOT.back) : current;
}

/** Where a click leads. @throws {PersonError} where its link no longer opens, or no page has the number that was typed */
export async function followed(click: Click, links: Links): Promise<Followed> {
  const { message } = click;
  const { link, slot, page } = clickedOn(click);
  const linked = await links.decode(link);
  if (!linked) throw new PersonError(OLDER_VERSION);
  const pages = pagesOn(message);
  const to = page === undefined ? linked : withParameter(linked, "page", page.trim());
  if (!to || Number(page ?? 1) > pages)
    throw new PersonError(`Type a page number: a whole number from 1 to ${pages}.`);
  const back = message ? await backFrom(message, slot, to, links) : undefined;
  return { to, back, refresh: slot === SLOT.refresh };
}

/**
 * Opens the dialog for a page number. It can only be the first answer: there is no deferring it.
 * @throws {PersonError} where the link no longer opens
 * @throws {StateError} where the state does not answer in time
 */
export async function showPageDialog(
  button: ButtonInteraction,
  linksOf: () => Promise<Links>,
): Promise<void> {
  const read = async () => {
    const links = await linksOf();
    return { links, linked: await links.decode(button.customId.slice(1)) };
  };
  const { links, linked } = await withTimeout(read(), DIALOG_MS, () => {
    throw new StateError("The state does not answer in time");
  });
  if (!linked) throw new PersonError(OLDER_VERSION);
  const input = new TextInputBuilder()
    .setCustomId(JUMP_INPUT)
    .setLabel(`Page, from 1 to ${pagesOn(button.message)}`.slice(0, LIMITS.inputLabel))
    .setStyle(TextInputStyle.Short)
    .setMinLength(1)
    .setMaxLength(5)
    .setRequired(true);
  const dialog = new ModalBuilder()
    .setCustomId(links.customId(SLOT.jump, linked))
    .setTitle("Go to a page")
    .addComponents(new ActionRowBuilder<TextInputBuilder>().addComponents(input));
  await button.showModal(dialog.toJSON());
}
