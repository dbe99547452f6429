import type {
  AutocompleteInteraction,
  ButtonInteraction,
  ChatInputCommandInteraction,
  Interaction,
  StringSelectMenuInteraction,
} from "discord.js";
import { MessageFlags } from "discord.js";
import { ExplorerError } from "../explorer/errors.js";
import type { Log } from "../log.js";
import { isScreen } from "../screens/addresses.js";
import { StateError } from "../storage/store.js";
import { yieldIfBusy } from "../util/event-loop.js";
import { PersonError } from "../util/person-error.js";
import { allowedChoices } from "./autocomplete.js";
import { type ButtonHandler, targetOf } from "./buttons.js";
import { type Click, followed, mayUpdate, opensDialog, pageForm, readClick, showForm } from "./clicks.js";
import { createAges } from "./clock.js";
import { type Command, OTHER_VERSION, PRIVATE_OPTION } from "./command.js";
import { choicesFor } from "./completion.js";
import { createDrafts } from "./drafts.js";
import { ErrorCode, hasCode, isTooLate, kindOf } from "./errors.js";
import { sendDespiteBreaks } from "./first-response.js";
import { withAnswers } from "./forms.js";
import { toContent } from "./mentions.js";
import { type AnswerServices, openedBy, openFor, typedOptions } from "./opening.js";
import { createAnswering } from "./reply.js";

/** Called after each interaction with its name, its outcome and its duration in ms. There are few names, for the metrics. */
export type OnInteraction = (name: string, outcome: string, ms: number) => void;

interface DispatchDeps<Services extends AnswerServices> {
  readonly commands: readonly Command<Services>[];
  /**
   * Returns the network of an interaction.
   * @param isSure false if the default network is acceptable when the choice cannot be read in time
   * @throws {PersonError} if it is not served
   * @throws {StateError} if it must be known and cannot be read
   */
  readonly networkOf: (interaction: Interaction, isSure?: boolean) => Promise<Services>;
  /** All buttons that do something other than opening a screen. */
  readonly buttons: readonly ButtonHandler<Services>[];
  /** Tells a person anything else they need to know, after the answer to their command. */
  readonly afterword: (userId: string, say: (word: string) => Promise<void>) => Promise<void>;
  /** Discord's ids by command path, such as "validator list". Empty until the commands are registered. */
  readonly commandPaths: () => ReadonlyMap<string, string>;
  readonly onInteraction: OnInteraction;
  /** Aborted shortly before the bot ends. */
  readonly stopping: AbortSignal;
  readonly log: Log;
}

/** Interactions older than this on arrival are dropped, in ms. Discord wants an answer within 3 s. */
const STALE_MS = 2_500;

/**
 * Creates the handler of all interactions. It opens a screen or runs a command or button, then sends the answer. It is the only
 * error boundary.
 */
export function createDispatch<Services extends AnswerServices>(deps: DispatchDeps<Services>) {
  const { commands, networkOf, buttons, afterword, commandPaths, onInteraction, stopping, log } = deps;
  const byName = new Map(commands.map((command) => [command.definition.name, command]));
  const handlers = new Map(buttons.map((handler) => [handler.button.wire, handler]));
  const help = { commands, paths: commandPaths };
  const drafts = createDrafts();
  const ages = createAges();
  const { answer, refuse } = createAnswering({ drafts, commandPaths, stopping, log });

  const command = async (interaction: ChatInputCommandInteraction): Promise<string> => {
    const outcome = await runCommand(interaction);
    // Sent separately, so that a failure does not affect the answer.
    const sayPrivately = async (word: string) => {
      const content = toContent(word, commandPaths());
      const flags = MessageFlags.Ephemeral;
      await interaction.followUp({ content, flags, allowedMentions: { parse: [] } });
    };
    await afterword(interaction.user.id, sayPrivately).catch((err: unknown) =>
      log.debug(
        { err, interaction: interaction.id },
        "Could not tell a person that Discord refuses messages to them",
      ),
    );
    return outcome;
  };

  const runCommand = (interaction: ChatInputCommandInteraction): Promise<string> => {
    const definition = byName.get(interaction.commandName);
    const ageMs = ages.of(interaction);
    // Commands that write to one network need to know it for certain.
    if (definition && "run" in definition) {
      const subcommand = interaction.options.getSubcommand(false) ?? "";
      const isOfOne = definition.ofAllNetworks?.includes(subcommand) !== true;
      const run = (own: Services) => definition.run(interaction, own);
      return answer(interaction, "private", networkOf(interaction, isOfOne), run, ageMs);
    }
    const typed = typedOptions(interaction, definition?.idOption);
    const isPrivate = definition?.isPrivate || typed[PRIVATE_OPTION] === "true";
    const open = async (own: Services) =>
      openFor(interaction, own, help, await openedBy(interaction, own.links, definition, typed));
    return answer(interaction, isPrivate ? "private" : "public", networkOf(interaction), open, ageMs);
  };

  /**
   * Follows a link: runs a button's handler, or opens a screen. A screen replaces the clicked message if it belongs to the
   * person. Otherwise, they get a private copy.
   */
  const follow = async (click: Click, handler: ButtonHandler<Services> | undefined): Promise<string> => {
    const isOwn = click.message !== null && mayUpdate(click.message, click.user.id);
    const target = targetOf(handler ?? { audience: "owner" }, readClick(click), isOwn);
    const makeAnswer = async (services: Services) => {
      const { to, ...from } = await followed(click, services.links);
      if (isScreen(to)) return openFor(click, services, help, to, from);
      if (!handler) throw new PersonError(OTHER_VERSION);
      // If something has to be corrected, the dialog opens with what the person chose.
      if (click.isModalSubmit()) drafts.keep(click);
      const message = await handler.handle(to.parameters, click, services);
      if (click.isModalSubmit()) drafts.forget(click);
      return message;
    };
    return answer(click, target, networkOf(click), makeAnswer, ages.of(click));
  };

  /** Opens a dialog: for a page number, or of a button. */
  const openDialog = async (
    click: ButtonInteraction | StringSelectMenuInteraction,
    handler: ButtonHandler<Services> | undefined,
  ): Promise<string> => {
    try {
      const services = networkOf(click);
      await showForm(
        click,
        async () => (await services).links,
        async (linked) => {
          if (isScreen(linked) || !handler?.form) return pageForm(click);
          const form = await handler.form(linked.parameters, click, await services);
          const draft = drafts.of(click);
          return draft ? withAnswers(form, draft) : form;
        },
        ages.of(click),
      );
      return "answered";
    } catch (error) {
      if (isTooLate(error) || hasCode(error, ErrorCode.InteractionHasAlreadyBeenAcknowledged)) throw error;
      return refuse(click, error);
    }
  };

  const complete = async (interaction: AutocompleteInteraction): Promise<string> => {
    const services = await networkOf(interaction);
    const choices = await choicesFor(interaction, byName.get(interaction.commandName), services);
    await sendDespiteBreaks(() => interaction.respond(allowedChoices(choices)));
    return "answered";
  };

  const handle = async (interaction: Interaction): Promise<string> => {
    if (interaction.isAutocomplete()) return complete(interaction);
    if (interaction.isChatInputCommand()) return command(interaction);
    const isPressed = interaction.isButton() || interaction.isStringSelectMenu();
    if (!isPressed && !interaction.isModalSubmit()) return "unknown";
    const handler = handlers.get(readClick(interaction).parts.wire);
    if (isPressed && (opensDialog(interaction) || handler?.form)) return openDialog(interaction, handler);
    return follow(interaction, handler);
  };

  /** Handles an interaction and logs errors. @returns the outcome, for the metrics */
  const attempt = async (interaction: Interaction): Promise<string> => {
    if (ages.note(interaction) > STALE_MS) {
      log.warn({ interaction: interaction.id }, "An interaction arrived too late to be answered");
      return "expired";
    }
    try {
      await yieldIfBusy();
      return await handle(interaction);
    } catch (error) {
      return logFailure(error, interaction, log);
    }
  };

  return async (interaction: Interaction): Promise<void> => {
    const startedAt = performance.now();
    const name = nameOf(interaction, byName);
    const outcome = await attempt(interaction);
    const ms = performance.now() - startedAt;
    onInteraction(name, outcome, ms);
    log.debug({ interaction: interaction.id, name, outcome, ms: Math.round(ms) }, "Interaction");
  };
}

/** Returns a name for the metrics. There are few names. */
function nameOf(interaction: Interaction, commands: ReadonlyMap<string, unknown>): string {
  if (interaction.isAutocomplete()) return "complete";
  if (!interaction.isChatInputCommand()) return "link";
  if (!commands.has(interaction.commandName)) return "unknown";
  return [interaction.commandName, interaction.options.getSubcommand(false)].filter(Boolean).join(" ");
}

/** Logs why an interaction got no answer. @returns the outcome, for the metrics */
function logFailure(error: unknown, interaction: Interaction, log: Log): string {
  const { id } = interaction;
  if (hasCode(error, ErrorCode.InteractionHasAlreadyBeenAcknowledged)) {
    // During a handover, two processes run the same shard.
    log.debug({ interaction: id }, "Another process answered first");
    return "duplicate";
  }
  if (isTooLate(error)) {
    log.warn({ interaction: id }, "An answer came too late for Discord");
    return "late";
  }
  const isExpected =
    error instanceof StateError || error instanceof PersonError || error instanceof ExplorerError;
  if (interaction.isAutocomplete() && isExpected) {
    log.debug({ err: error, interaction: id }, "Suggestions could not be given");
    return kindOf(error);
  }
  log.error({ err: error, interaction: id }, "An interaction could not be answered");
  return "error";
}
