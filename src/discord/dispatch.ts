import {
  type AutocompleteInteraction,
  type ButtonInteraction,
  type ChatInputCommandInteraction,
  type Interaction,
  MessageFlags,
  PermissionFlagsBits,
  type StringSelectMenuInteraction,
} from "discord.js";
import { LRUCache } from "lru-cache";
import { ExplorerError } from "../explorer/errors.js";
import { REFRESH_MS } from "../explorer/freshness.js";
import type { ExplorerService } from "../explorer/service.js";
import type { Log } from "../log.js";
import { isScreen, namedAddress, parseAddress, type ScreenAddress } from "../screens/addresses.js";
import { openScreen } from "../screens/index.js";
import type { ScreenServices } from "../screens/view.js";
import { StateError } from "../storage/store.js";
import { isWholeId, LINK, typedId } from "../text/ids.js";
import { escapeText } from "../text/markdown.js";
import { yieldIfBusy } from "../util/event-loop.js";
import { FinalError, PersonError } from "../util/person-error.js";
import { unlessAborted } from "../util/timeouts.js";
import { MINUTE } from "../util/units.js";
import { allowedChoices, toChoices } from "./autocomplete.js";
import { type ButtonHandler, targetOf } from "./buttons.js";
import { type Click, followed, mayUpdate, opensDialog, pageForm, readClick, showForm } from "./clicks.js";
import { createAge } from "./clock.js";
import {
  type Command,
  NETWORK_OPTION,
  OTHER_VERSION,
  PRIVATE_OPTION,
  type ReadingCommand,
} from "./command.js";
import { ErrorCode, explain, hasCode, isTooLate, kindOf } from "./errors.js";
import { sendDespiteBreaks } from "./first-response.js";
import { answersOf, type FormAnswers, tryAgainRow, withAnswers } from "./forms.js";
import { commandHelp } from "./help.js";
import type { Links } from "./links.js";
import { toContent } from "./mentions.js";
import type { MessagePayload, Renderer } from "./message.js";
import { type Answerable, type AnswerTarget, answerInteraction } from "./reply.js";

/** Called after each interaction with its name, its outcome and its duration in ms. There are few names, for the metrics. */
export type OnInteraction = (name: string, outcome: string, ms: number) => void;

/** The parts of a network that answers need. */
interface AnswerServices {
  readonly explorer: ExplorerService;
  readonly screens: ScreenServices;
  readonly links: Links;
  readonly renderer: Renderer;
  /** The network's name if messages show it. `undefined` for the default network. */
  readonly label: string | undefined;
}

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
  /** Aborted shortly before the bot ends. Answers that are still in progress are given up, so that their people are told. */
  readonly stopping: AbortSignal;
  readonly log: Log;
}

/** Interactions older than this on arrival are dropped, in ms. Discord wants an answer within 3 s. */
const STALE_MS = 2_500;

/** Refused dialogs whose answers are kept in memory, and for how long, in ms (Discord: a dialog lives for 15 minutes). */
const MAX_DRAFTS = 1_000;
const DRAFT_MS = 15 * MINUTE;

/** Always the same function, so that a screen recognizes what it has already shown. */
const noLinks = () => [];

/** Returns the typed options by the names of the screen's parameters. */
function givenIn(
  interaction: ChatInputCommandInteraction,
  idOption: string | undefined,
): Record<string, string> {
  const options = interaction.options.data.flatMap((option) => option.options ?? [option]);
  return Object.fromEntries(
    options.map(({ name, value }) => [name === idOption ? "id" : name, String(value)]),
  );
}

/** Returns the screen that a reading command opens. @throws {PersonError} if the subcommand is unknown or the id is invalid */
async function openedBy(
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
 * Creates the handler of all interactions. It opens a screen or runs a command or button, then sends the answer. It is the only
 * error boundary.
 */
export function createDispatch<Services extends AnswerServices>(deps: DispatchDeps<Services>) {
  const { commands, networkOf, buttons, afterword, commandPaths, onInteraction, stopping, log } = deps;
  const handlers = new Map(buttons.map((handler) => [handler.button.wire, handler]));
  /** Answers of dialogs that were refused, by person, channel and link: some dialogs are about the channel. */
  const drafts = new LRUCache<string, FormAnswers>({ max: MAX_DRAFTS, ttl: DRAFT_MS });
  const draftKey = (click: Click) =>
    JSON.stringify([click.user.id, click.guildId, click.channelId, readClick(click).parts]);
  /** When each interaction was made, in ms of this process's steady clock. */
  const madeAt = new WeakMap<Interaction, number>();
  const ageSince = createAge();
  const ageOf = (interaction: Interaction): number => {
    const now = performance.now();
    return now - (madeAt.get(interaction) ?? now);
  };
  const byName = new Map(commands.map((command) => [command.definition.name, command]));

  const openTarget = async (
    interaction: Answerable,
    { explorer, screens, renderer }: Services,
    to: ScreenAddress,
    from?: { back: ScreenAddress | undefined; refresh: boolean },
  ): Promise<MessagePayload> => {
    const options = { isPatient: true, ...(from?.refresh ? { maxAgeMs: REFRESH_MS } : {}) };
    const bound = explorer.for({ person: interaction.user.id }, options);
    // A person may use the bot in a server that has not added it, and cannot set anything up there.
    const isServers = interaction.authorizingIntegrationOwners.guildId !== null;
    const memberPermissions = isServers ? interaction.memberPermissions : null;
    const mayDo = memberPermissions?.bitfield ?? null;
    const mayManage = memberPermissions?.has(PermissionFlagsBits.ManageGuild) ?? false;
    const { view, address } = await openScreen(to, {
      ...screens,
      ...(mayManage ? {} : { subscribeLinks: noLinks }),
      explorer: bound,
      commands: () => commandHelp(commands, commandPaths(), mayDo),
    });
    return renderer.screen(view, address, from?.back);
  };

  /** Sends the answer, or an error message if the work fails. @returns the outcome, for the metrics */
  const reply = async (
    interaction: Answerable,
    target: AnswerTarget,
    services: Promise<Services>,
    makeAnswer: (services: Services) => Promise<MessagePayload>,
  ): Promise<string> => {
    let outcome = "answered";
    let handlerLabel: string | undefined;
    const making = services.then((own) => {
      handlerLabel = own.label;
      return makeAnswer(own);
    });
    const answerWork = unlessAborted(making, stopping).then((answer) => {
      if (!answer)
        throw new FinalError("I'm being restarted, and can't finish this. Please try again in a minute.");
      return answer;
    });
    const explained = (error: unknown, isDone: boolean) => {
      outcome = kindOf(error);
      const doneNote = isDone ? "\n-# If you were changing something, it's done." : "";
      const label = handlerLabel === undefined ? "" : `\n-# ${escapeText(handlerLabel)}`;
      const content = toContent(explain(error, log, interaction.id), commandPaths(), `${doneNote}${label}`);
      // Offer "Try again", so that the person doesn't have to find the button or the menu again.
      const mayCorrect = error instanceof PersonError && !(error instanceof FinalError);
      const isToCorrect = mayCorrect && interaction.isModalSubmit() && drafts.has(draftKey(interaction));
      return isToCorrect ? { content, components: [tryAgainRow(interaction.customId)] } : { content };
    };
    await answerInteraction(interaction, target, answerWork, explained, ageOf(interaction));
    return outcome;
  };

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
    // Commands that write to one network need to know it for certain.
    if (definition && "run" in definition) {
      const subcommand = interaction.options.getSubcommand(false) ?? "";
      const isOfOne = definition.ofAllNetworks?.includes(subcommand) !== true;
      return reply(interaction, "private", networkOf(interaction, isOfOne), (own) =>
        definition.run(interaction, own),
      );
    }
    const givenParameters = givenIn(interaction, definition?.idOption);
    const isPrivate = definition?.isPrivate || givenParameters[PRIVATE_OPTION] === "true";
    const target = isPrivate ? "private" : "public";
    return reply(interaction, target, networkOf(interaction), async (own) =>
      openTarget(interaction, own, await openedBy(interaction, own.links, definition, givenParameters)),
    );
  };

  /**
   * Follows a link: runs a button's handler, or opens a screen. A screen replaces the clicked message if it belongs to the
   * person. Otherwise, they get a private copy.
   */
  const follow = async (click: Click, handler: ButtonHandler<Services> | undefined): Promise<string> => {
    const isOwn = click.message !== null && mayUpdate(click.message, click.user.id);
    const target = targetOf(handler ?? { audience: "owner" }, readClick(click), isOwn);
    return reply(click, target, networkOf(click), async (services) => {
      const { to, ...from } = await followed(click, services.links);
      if (isScreen(to)) return openTarget(click, services, to, from);
      if (!handler) throw new PersonError(OTHER_VERSION);
      // If something has to be corrected, the dialog opens with what the person chose.
      if (click.isModalSubmit()) drafts.set(draftKey(click), answersOf(click));
      const answer = await handler.handle(to.parameters, click, services);
      if (click.isModalSubmit()) drafts.delete(draftKey(click));
      return answer;
    });
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
          const draft = drafts.get(draftKey(click));
          return draft ? withAnswers(form, draft) : form;
        },
        ageOf(click),
      );
      return "answered";
    } catch (error) {
      if (isTooLate(error) || hasCode(error, ErrorCode.InteractionHasAlreadyBeenAcknowledged)) throw error;
      const content = toContent(explain(error, log, click.id), commandPaths());
      await sendDespiteBreaks(() => click.reply({ content, flags: MessageFlags.Ephemeral }));
      return kindOf(error);
    }
  };

  const complete = async (interaction: AutocompleteInteraction): Promise<string> => {
    const definition = byName.get(interaction.commandName);
    const { name, value: typed } = interaction.options.getFocused(true);
    const suggestedKinds = () => {
      if (!definition || "opens" in definition) return definition?.suggests;
      const ofSubcommand = `${interaction.options.getSubcommand(false)} ${name}`;
      return definition.suggests?.[ofSubcommand] ?? definition.suggests?.[name];
    };
    const kinds = suggestedKinds();
    const services = await networkOf(interaction);
    const makeChoices = async () => {
      if (!kinds)
        return definition && "run" in definition ? definition.complete?.(interaction, services) : undefined;
      const { directory, names, rhythms, others } = services.screens;
      // A choice does not name a network. A link that is left as typed opens on its own.
      if (others.length > 0 && LINK.test(typed)) return [];
      return toChoices(kinds, typed, { ...services, directory, names, intervals: await rhythms.intervals() });
    };
    const choices = allowedChoices((await makeChoices()) ?? []);
    await sendDespiteBreaks(() => interaction.respond(choices));
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

  /** Returns a name for the metrics. There are few names. */
  const nameOf = (interaction: Interaction): string => {
    if (interaction.isAutocomplete()) return "complete";
    if (!interaction.isChatInputCommand()) return "link";
    if (!byName.has(interaction.commandName)) return "unknown";
    return [interaction.commandName, interaction.options.getSubcommand(false)].filter(Boolean).join(" ");
  };

  /** Handles an interaction and logs errors. @returns the outcome, for the metrics */
  const attempt = async (interaction: Interaction): Promise<string> => {
    const { id } = interaction;
    const arrivedAfterMs = ageSince(interaction.createdTimestamp);
    madeAt.set(interaction, performance.now() - arrivedAfterMs);
    if (arrivedAfterMs > STALE_MS) {
      log.warn({ interaction: id }, "An interaction arrived too late to be answered");
      return "expired";
    }
    try {
      await yieldIfBusy();
      return await handle(interaction);
    } catch (error) {
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
  };

  return async (interaction: Interaction): Promise<void> => {
    const startedAt = performance.now();
    const name = nameOf(interaction);
    const outcome = await attempt(interaction);
    const ms = performance.now() - startedAt;
    onInteraction(name, outcome, ms);
    log.debug({ interaction: interaction.id, name, outcome, ms: Math.round(ms) }, "Interaction");
  };
}
