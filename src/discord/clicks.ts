import {
  type ButtonInteraction,
  ComponentType,
  type Message,
  MessageFlags,
  type ModalSubmitInteraction,
  PermissionFlagsBits,
  type StringSelectMenuInteraction,
} from "discord.js";
import { MAX_SCREENS } from "../explorer/paging.js";
import { type Address, isScreen, type ScreenAddress, wireIn, withParameter } from "../screens/addresses.js";
import { StateError } from "../storage/store.js";
import { perObject } from "../util/per-object.js";
import { PersonError } from "../util/person-error.js";
import { withTimeout } from "../util/timeouts.js";
import { sendDespiteBreaks } from "./first-response.js";
import { answersOf, type Form, modalOf } from "./forms.js";
import { LINK_SLOTS, type LinkParts, type Links, partsOf, SLOT } from "./links.js";

const OLDER_VERSION =
  "This button is from an older version of the bot. Use a slash command instead. Type `/` to see them all.";
const JUMP_INPUT = "page";
/** Slot of the dialogs that are no page numbers. */
const FORM_SLOT = LINK_SLOTS[0];
/** Age of a click until which a dialog waits for the state, in ms. A dialog cannot be deferred (Discord: 3 s). */
const DIALOG_MS = 2_000;

/** An interaction that follows a link: a button, a menu choice or a submitted dialog. */
export type Click = ButtonInteraction | StringSelectMenuInteraction | ModalSubmitInteraction;

/** A click, resolved to its destination. */
export interface Followed {
  readonly to: Address;
  /** Destination of its back button. */
  readonly back: ScreenAddress | undefined;
  readonly refresh: boolean;
}

/** The parts of a click that decide the audience of its answer. */
export interface Press {
  readonly isMenu: boolean;
  /** The parameters of the link as text, such as `since=5&on=news`. */
  readonly query: string;
}

/** A parsed click. */
export interface ReadClick extends Press {
  readonly slot: string;
  readonly parts: LinkParts;
  /** The page number that was typed into the dialog. */
  readonly page?: string;
}

function textOf(click: Click): string {
  return click.isStringSelectMenu() ? (click.values[0] ?? "") : click.customId.slice(1);
}

/** The page number of a dialog that an earlier version of the bot opened. */
const oldPage = ({ fields }: ModalSubmitInteraction): string =>
  fields.fields.has(JUMP_INPUT) ? fields.getTextInputValue(JUMP_INPUT) : "";

/** Parses a click. The result is cached for each click. */
export const readClick = perObject((click: Click): ReadClick => {
  const linkParts = partsOf(textOf(click));
  const press = { parts: linkParts, query: linkParts.query, isMenu: click.isStringSelectMenu() };
  const slot = press.isMenu ? click.customId : click.customId.charAt(0);
  if (!click.isModalSubmit() || slot !== SLOT.jump) return { ...press, slot };
  return { ...press, slot, page: answersOf(click).get(JUMP_INPUT)?.[0] ?? oldPage(click) };
});

/** True if a button opens the dialog for a page number. */
export const opensDialog = (click: Click): click is ButtonInteraction =>
  click.isButton() && click.customId.startsWith(SLOT.jump);

/** True if the person may change the message. A message without an owner, such as an announcement, cannot be changed. */
export const mayUpdate = (message: Message, userId: string): boolean =>
  message.flags.has(MessageFlags.Ephemeral) || message.interactionMetadata?.user.id === userId;

/** True if a person may respond to an alert: as a member of its role, or with Manage Server. */
export function mayAnswer({ member, memberPermissions }: Click, roleId: string | null): boolean {
  if (memberPermissions?.has(PermissionFlagsBits.ManageGuild)) return true;
  if (!member || roleId === null) return false;
  return Array.isArray(member.roles) ? member.roles.includes(roleId) : member.roles.cache.has(roleId);
}

/** Returns the buttons and menus of a message. */
const componentsOn = (message: Message | null) =>
  (message?.components ?? []).flatMap((row) => (row.type === ComponentType.ActionRow ? row.components : []));

/** Returns the number of pages from the label of the page button ("3 / 12"). */
function pagesOn(message: Message | null): number {
  const jump = componentsOn(message).find(
    (each) => each.type === ComponentType.Button && each.customId?.startsWith(SLOT.jump),
  );
  const label = jump && "label" in jump ? jump.label : undefined;
  return Number(label?.split("/").at(-1)) || MAX_SCREENS;
}

/** True if two addresses show the same thing on different pages or in different orders. */
function isSameThing(a: Address, b: Address): boolean {
  const idOf = ({ parameters }: Address) => ("id" in parameters ? parameters.id : undefined);
  return wireIn(a) === wireIn(b) && idOf(a) === idOf(b);
}

/**
 * Returns the destination of the new message's back button: the screen that was clicked. If only the page or the order changes,
 * the back button stays the same.
 */
async function backFrom(
  message: Message,
  slot: string,
  to: Address,
  links: Links,
): Promise<ScreenAddress | undefined> {
  if (slot === SLOT.back) return undefined;
  const onMessage = componentsOn(message).flatMap((each) => ("customId" in each && each.customId) || []);
  const linkIn = async (wanted: string) => {
    const link = onMessage.find((id) => id.startsWith(wanted));
    const foundAddress = link === undefined ? undefined : await links.decode(link.slice(1));
    return foundAddress && isScreen(foundAddress) ? foundAddress : undefined;
  };
  const currentScreen = await linkIn(SLOT.refresh);
  return currentScreen && isSameThing(currentScreen, to) ? linkIn(SLOT.back) : currentScreen;
}

/** Resolves a click to its destination. @throws {PersonError} if the link is invalid, or the page number is out of range */
export async function followed(click: Click, links: Links): Promise<Followed> {
  const { message } = click;
  const { parts, slot, page } = readClick(click);
  const linked = await links.resolve(parts);
  if (!linked) throw new PersonError(OLDER_VERSION);
  const pageNumbers = pagesOn(message);
  const destination = page === undefined ? linked : withParameter(linked, "page", page.trim());
  if (!destination || Number(page ?? 1) > pageNumbers)
    throw new PersonError(`Type a page number from 1 to ${pageNumbers}.`);
  const backAddress = message ? await backFrom(message, slot, destination, links) : undefined;
  return { to: destination, back: backAddress, refresh: slot === SLOT.refresh };
}

/**
 * Opens a dialog. It must be the first response, because Discord cannot defer a dialog.
 * @param makeForm returns the dialog for a link
 * @param ageMs age of the click
 * @throws {PersonError} if the link is no longer valid
 * @throws {StateError} if the state does not answer in time
 */
export async function showForm(
  click: ButtonInteraction | StringSelectMenuInteraction,
  linksOf: () => Promise<Links>,
  makeForm: (linked: Address) => Promise<Form>,
  ageMs: number,
): Promise<void> {
  const read = async () => {
    const links = await linksOf();
    const { parts, slot } = readClick(click);
    const linked = await links.resolve(parts);
    if (!linked) throw new PersonError(OLDER_VERSION);
    const form = await makeForm(linked);
    return modalOf(links.customId(slot === SLOT.jump ? slot : FORM_SLOT, linked), form);
  };
  const modal = await withTimeout(read(), Math.max(0, DIALOG_MS - ageMs), () => {
    throw new StateError("The state does not answer in time");
  });
  await sendDespiteBreaks(() => click.showModal(modal));
}

/** The dialog for a page number. */
export const pageForm = ({ message }: Pick<Click, "message">): Form => ({
  title: "Go to a page",
  fields: [
    {
      kind: "text",
      name: JUMP_INPUT,
      label: `Page (1 to ${pagesOn(message)})`,
      value: "",
      maxLength: 5,
      isRequired: true,
    },
  ],
});
