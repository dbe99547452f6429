import { type ChatInputCommandInteraction, PermissionFlagsBits } from "discord.js";
import { REFRESH_MS } from "../explorer/freshness.js";
import type { ExplorerService } from "../explorer/service.js";
import { isScreen, namedAddress, parseAddress, type ScreenAddress } from "../screens/addresses.js";
import { openScreen } from "../screens/index.js";
import type { ScreenServices } from "../screens/view.js";
import { isWholeId, typedId } from "../text/ids.js";
import { yieldIfBusy } from "../util/event-loop.js";
import { PersonError } from "../util/person-error.js";
import {
  type Command,
  NETWORK_OPTION,
  OTHER_VERSION,
  PRIVATE_OPTION,
  type ReadingCommand,
} from "./command.js";
import { commandHelp } from "./help.js";
import type { Links } from "./links.js";
import type { MessagePayload, Renderer } from "./message.js";
import type { Answerable } from "./reply.js";

/** The parts of a network that answers need. */
export interface AnswerServices {
  readonly explorer: ExplorerService;
  readonly screens: ScreenServices;
  readonly links: Links;
  readonly renderer: Renderer;
  /** The network's name if messages show it. `undefined` for the default network. */
  readonly label: string | undefined;
}

/** Always the same function, so that a screen recognizes what it has already shown. */
const noLinks = () => [];

/** Returns the typed options by the names of the screen's parameters. */
export function typedOptions(
  interaction: ChatInputCommandInteraction,
  idOption: string | undefined,
): Record<string, string> {
  const options = interaction.options.data.flatMap((option) => option.options ?? [option]);
  return Object.fromEntries(
    options.map(({ name, value }) => [name === idOption ? "id" : name, String(value)]),
  );
}

/** Returns the screen that a reading command opens. @throws {PersonError} if the subcommand is unknown or the id is invalid */
export async function openedBy(
  interaction: ChatInputCommandInteraction,
  links: Links,
  definition: ReadingCommand | undefined,
  typed: Readonly<Record<string, string>>,
): Promise<ScreenAddress> {
  const subcommand = interaction.options.getSubcommand(false) ?? "";
  const isBare = Object.keys(typed).every((name) => name === PRIVATE_OPTION || name === NETWORK_OPTION);
  const screen = (isBare && definition?.bare?.[subcommand]) || definition?.opens[subcommand];
  if (!screen) throw new PersonError(OTHER_VERSION);
  const given = typed.id === undefined ? undefined : ((await links.readChoice(typed.id)) ?? typed.id);
  const wholeId = given === undefined ? "" : typedId(given);
  // A party's fingerprint alone is looked up like a name.
  const isPart = ["validator", "party", "rewards"].includes(screen) && !wholeId.includes("::");
  const isName = given !== undefined && (isPart || !isWholeId(wholeId));
  const id = isWholeId(wholeId) ? wholeId : given;
  const screenAddress =
    (isName && namedAddress(screen, id ?? "")) ||
    parseAddress(screen, id === undefined ? typed : { ...typed, id });
  if (!screenAddress || !isScreen(screenAddress))
    throw new PersonError("That doesn't look like an id. Copy all of it, and try again.");
  return screenAddress;
}

/**
 * Opens a screen for a person.
 * @param help the commands that /help lists, and Discord's ids of them by path
 * @param from the button that opens it
 */
export async function openFor<Services extends AnswerServices>(
  interaction: Answerable,
  { explorer, screens, renderer }: Services,
  help: {
    readonly commands: readonly Command<Services>[];
    readonly paths: () => ReadonlyMap<string, string>;
  },
  to: ScreenAddress,
  from?: { readonly back: ScreenAddress | undefined; readonly refresh: boolean },
): Promise<MessagePayload> {
  const maxAgeMs = from?.refresh ? REFRESH_MS : undefined;
  const bound = explorer.for({ person: interaction.user.id }, { isPatient: true, maxAgeMs });
  // A person may use the bot in a server that has not added it, and cannot set anything up there.
  const isServers = interaction.authorizingIntegrationOwners.guildId !== null;
  const memberPermissions = isServers ? interaction.memberPermissions : null;
  const mayDo = memberPermissions?.bitfield ?? null;
  const mayManage = memberPermissions?.has(PermissionFlagsBits.ManageGuild) ?? false;
  const { view, address } = await openScreen(to, {
    ...screens,
    subscribeLinks: mayManage ? screens.subscribeLinks : noLinks,
    explorer: bound,
    commands: () => commandHelp(help.commands, help.paths(), mayDo),
  });
  // Many people may open screens at once.
  await yieldIfBusy();
  return renderer.screen(view, address, from?.back);
}
