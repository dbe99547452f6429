import {
  SlashCommandBuilder,
  type SlashCommandOptionsOnlyBuilder,
  SlashCommandSubcommandBuilder,
} from "@discordjs/builders";
import type { ChatInputCommandInteraction, REST } from "discord.js";
import {
  ApplicationIntegrationType,
  InteractionContextType,
  type RESTPostAPIChatInputApplicationCommandsJSONBody,
} from "discord-api-types/v10";
import type { MessagePayload } from "../src/discord/message.js";
import type { Kind } from "../src/explorer/directory.js";
import type { ExplorerService } from "../src/explorer/service.js";
import type { ScreenName } from "../src/screens/addresses.js";
import type { ScreenServices } from "../src/screens/view.js";
import type { State } from "../src/storage/state.js";
import type { Subscriptions } from "../src/watch/subscriptions.js";

type Definition = RESTPostAPIChatInputApplicationCommandsJSONBody;

/** A slash command that reads: its definition, and the screen that each of its subcommands opens. */
export interface ReadingCommand {
  readonly definition: Definition;
  /** By subcommand; under "" for a command without any. Options are named as the screen's parameters, or mapped. */
  readonly opens: Readonly<Record<string, ScreenName>>;
  /** The option that holds the screen's id, where it has a name that says more. */
  readonly idOption?: string;
  /** What that option is completed with, and may be named by. */
  readonly suggests?: readonly Kind[];
}

/** What a command that changes something works with. */
export interface Services {
  readonly explorer: ExplorerService;
  readonly screens: ScreenServices;
  readonly subscriptions: Subscriptions;
  readonly state: State;
  /** For what is not the answer to the interaction. */
  readonly rest: REST;
}

/** A slash command that changes something; its answers are private. */
export interface ActingCommand {
  readonly definition: Definition;
  /** @throws {PersonError} with a sentence for the person */
  run(asked: ChatInputCommandInteraction, services: Services): Promise<MessagePayload>;
}

export type Command = ReadingCommand | ActingCommand;

/** The option that every reading command has. */
export const PRIVATE_OPTION = "private";

/** A command that reads: it works in servers, in direct messages, and as an app that a person installs for themselves. */
export const readingCommand = (name: string, description: string): SlashCommandBuilder =>
  new SlashCommandBuilder()
    .setName(name)
    .setDescription(description)
    .setIntegrationTypes(ApplicationIntegrationType.GuildInstall, ApplicationIntegrationType.UserInstall)
    .setContexts(
      InteractionContextType.Guild,
      InteractionContextType.BotDM,
      InteractionContextType.PrivateChannel,
    );

export const subcommand = (name: string, description: string): SlashCommandSubcommandBuilder =>
  new SlashCommandSubcommandBuilder().setName(name).setDescription(description);

type Optionable = SlashCommandBuilder | SlashCommandSubcommandBuilder | SlashCommandOptionsOnlyBuilder;

/** The longest text that an id may be pasted in, with a link around it. */
const LONGEST_PASTE = 600;

/** Adds the option that holds an id, completed while it is typed where there is something to complete it with. */
export function withId<Builder extends Optionable>(
  builder: Builder,
  name: string,
  description: string,
  completed: boolean,
): Builder {
  builder.addStringOption((option) =>
    option
      .setName(name)
      .setDescription(description)
      .setRequired(true)
      .setMaxLength(LONGEST_PASTE)
      .setAutocomplete(completed),
  );
  return builder;
}

/** Adds a choice of which end of a list comes first. */
export function withOrder<Builder extends Optionable>(
  builder: Builder,
  latest = "newest first",
  earliest = "oldest first",
): Builder {
  builder.addStringOption((option) =>
    option
      .setName("order")
      .setDescription(`Which first (${latest.replace(" first", "")})`)
      .addChoices({ name: latest, value: "DESC" }, { name: earliest, value: "ASC" }),
  );
  return builder;
}

/** Adds the `private` option. */
export function withPrivate<Builder extends Optionable>(builder: Builder): Builder {
  builder.addBooleanOption((option) =>
    option.setName(PRIVATE_OPTION).setDescription("Only you see the answer"),
  );
  return builder;
}

interface ListAndShow {
  readonly description: string;
  readonly list: string;
  readonly show: string;
  /** What the option that holds the id wants. */
  readonly id: string;
  readonly opens: { readonly list: ScreenName; readonly show: ScreenName };
}

/** A command for things that are listed by age, and shown one by one. */
export const listAndShow = (
  name: string,
  { description, list, show, id, opens }: ListAndShow,
): ReadingCommand => ({
  definition: readingCommand(name, description)
    .addSubcommand(withPrivate(withOrder(subcommand("list", list))))
    .addSubcommand(withPrivate(withId(subcommand("show", show), name, id, false)))
    .toJSON(),
  opens: { ...opens },
  idOption: name,
});
