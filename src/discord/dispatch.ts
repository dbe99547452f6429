import { ActionRowBuilder, ModalBuilder, TextInputBuilder } from "@discordjs/builders";
import {
  type AutocompleteInteraction,
  type ButtonInteraction,
  type ChatInputCommandInteraction,
  ComponentType,
  type Interaction,
  type Message,
  MessageFlags,
  type ModalSubmitInteraction,
  type StringSelectMenuInteraction,
  TextInputStyle,
} from "discord.js";
import { type Command, PRIVATE_OPTION, type Services } from "../../commands/command.js";
import { REFRESH_MS } from "../explorer/policy.js";
import type { Metrics } from "../ops/metrics.js";
import { type Address, LAST_PAGE, parseAddress, withParameter } from "../screens/addresses.js";
import { KEY_MARK } from "../screens/ids.js";
import { openScreen } from "../screens/index.js";
import { StateError } from "../storage/state.js";
import { within } from "../within.js";
import { createAge } from "./age.js";
import { toChoices, unlessNamed } from "./autocomplete.js";
import { DISCORD, explain, hasCode, kindOf, PersonError } from "./errors.js";
import { LIMITS } from "./limits.js";
import { customId, decodeAddress, type IdKeys, SLOT } from "./links.js";
import { type MessagePayload, toMessage } from "./message.js";
import { type Asked, answer, type Target } from "./reply.js";

interface Log {
  debug(details: object, message: string): void;
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

interface Parts {
  readonly commands: readonly Command[];
  readonly services: Services;
  readonly keys: IdKeys;
  readonly metrics: Pick<Metrics, "interaction">;
  readonly log: Log;
}

const OLDER_VERSION =
  "This button is from an older version of the bot. Use the slash command instead; `/` lists them.";
const JUMP_INPUT = "page";
/** A dialog that has not been found by then is told of, in ms. */
const DIALOG_MS = 2_000;

/** Takes each interaction to the screen it asks for, and the screen back to the person. The one error boundary. */
export function createDispatch({ commands, services, keys, metrics, log }: Parts) {
  const { explorer, screens } = services;
  const byName = new Map(commands.map((command) => [command.definition.name, command]));

  const open = async (asked: Asked, to: Address, from?: { back: Address | undefined; refresh: boolean }) => {
    const bound = explorer.for({ person: asked.user.id }, from?.refresh ? { maxAgeMs: REFRESH_MS } : {});
    const { view, at } = await openScreen(to, { ...screens, explorer: bound });
    return toMessage(view, at, from?.back, keys);
  };

  /** @returns how it went, in a word */
  const reply = async (
    asked: Asked,
    target: Target,
    work: (asksFor: (to: Address | undefined) => void) => Promise<MessagePayload>,
  ): Promise<string> => {
    let screen: Address["screen"] | undefined;
    let outcome = "answered";
    const asksFor = (to: Address | undefined) => {
      screen = to?.screen;
    };
    await answer(asked, target, work(asksFor), (error) => {
      outcome = kindOf(error);
      return explain(error, log, asked.id, screen);
    });
    return outcome;
  };

  const command = async (asked: ChatInputCommandInteraction) => {
    const definition = byName.get(asked.commandName);
    if (definition && "run" in definition) {
      return reply(asked, "private", () => definition.run(asked, services));
    }
    const screen = definition?.opens[asked.options.getSubcommand(false) ?? ""];
    const given: Record<string, string> = {};
    for (const { name, value } of asked.options.data.flatMap((option) => option.options ?? [option])) {
      given[name === definition?.idOption ? "id" : name] = String(value);
    }
    if (given.id !== undefined && definition?.suggests) {
      given.id = unlessNamed(screens.directory, definition.suggests, given.id);
    }
    const target = given[PRIVATE_OPTION] === "true" ? "private" : "public";
    return reply(asked, target, async (asksFor) => {
      const keyed = given.id?.startsWith(KEY_MARK) ? await keys.resolve(given.id) : undefined;
      if (keyed !== undefined) given.id = `!${keyed}`;
      const to = screen && parseAddress(screen, given);
      asksFor(to);
      if (!screen)
        throw new PersonError("This command is from another version of the bot. Try again in a minute.");
      if (!to)
        throw new PersonError("That is no id that the explorer could know. Copy it whole, and try again.");
      return open(asked, to);
    });
  };

  /** A link was followed, from a message: its owner sees that message change, anybody else gets a copy. */
  const follow = async (
    asked: ButtonInteraction | StringSelectMenuInteraction | ModalSubmitInteraction,
    link: string,
    slot: string,
    page?: string,
  ) => {
    const { message } = asked;
    const target = message && mayUpdate(message, asked.user.id) ? "update" : "private";
    return reply(asked, target, async (asksFor) => {
      const linked = await decodeAddress(link, keys);
      const to = page === undefined ? linked : linked && withParameter(linked, "page", page.trim());
      asksFor(to);
      if (!linked) throw new PersonError(OLDER_VERSION);
      if (!to) throw new PersonError(`Type a page number: a whole number from 1 to ${pagesOn(message)}.`);
      const back = message ? await backFrom(message, slot, to) : undefined;
      return open(asked, to, { back, refresh: slot === SLOT.refresh });
    });
  };

  /** Back leads to the message that was clicked; within one screen's pages it stays what it was. */
  const backFrom = async (message: Message, slot: string, to: Address): Promise<Address | undefined> => {
    if (slot === SLOT.back) return undefined;
    const links = linksOn(message);
    const linkAt = (at: string) => {
      const link = links.find((id) => id.startsWith(at));
      return link === undefined ? undefined : decodeAddress(link.slice(1), keys);
    };
    const current = await linkAt(SLOT.refresh);
    return current && sameThing(current, to) ? linkAt(SLOT.back) : current;
  };

  const jump = async (asked: ButtonInteraction) => {
    // A dialog can only be the first answer: there is no deferring it.
    const late = () => {
      throw new StateError("The state does not answer in time");
    };
    let linked: Address;
    try {
      const found = await within(decodeAddress(asked.customId.slice(1), keys), DIALOG_MS, late);
      if (!found) throw new PersonError(OLDER_VERSION);
      linked = found;
    } catch (error) {
      await asked.reply({ content: explain(error, log, asked.id), flags: MessageFlags.Ephemeral });
      return kindOf(error);
    }
    const pages = pagesOn(asked.message);
    const input = new TextInputBuilder()
      .setCustomId(JUMP_INPUT)
      .setLabel(`Page, from 1 to ${pages}`.slice(0, LIMITS.inputLabel))
      .setStyle(TextInputStyle.Short)
      .setMinLength(1)
      .setMaxLength(5)
      .setRequired(true);
    const dialog = new ModalBuilder()
      .setCustomId(customId(SLOT.jump, linked, keys))
      .setTitle("Go to a page")
      .addComponents(new ActionRowBuilder<TextInputBuilder>().addComponents(input));
    await asked.showModal(dialog.toJSON());
    return "answered";
  };

  const complete = async (asked: AutocompleteInteraction) => {
    const definition = byName.get(asked.commandName);
    const kinds = definition && "opens" in definition ? definition.suggests : undefined;
    const typed = asked.options.getFocused();
    await asked.respond(kinds ? toChoices(screens.directory, kinds, typed, keys) : []);
    return "answered";
  };

  const handle = async (interaction: Interaction): Promise<string> => {
    if (interaction.isAutocomplete()) return complete(interaction);
    if (interaction.isChatInputCommand()) return command(interaction);
    if (interaction.isButton()) {
      return interaction.customId.startsWith(SLOT.jump)
        ? jump(interaction)
        : follow(interaction, interaction.customId.slice(1), interaction.customId.charAt(0));
    }
    if (interaction.isStringSelectMenu())
      return follow(interaction, interaction.values[0] ?? "", interaction.customId);
    if (interaction.isModalSubmit()) {
      const page = interaction.fields.getTextInputValue(JUMP_INPUT);
      return follow(interaction, interaction.customId.slice(1), SLOT.jump, page);
    }
    return "unknown";
  };

  /** Names of which there are few, for the metrics. */
  const nameOf = (interaction: Interaction): string => {
    if (interaction.isAutocomplete()) return "complete";
    if (!interaction.isChatInputCommand()) return "link";
    if (!byName.has(interaction.commandName)) return "unknown";
    return [interaction.commandName, interaction.options.getSubcommand(false)].filter(Boolean).join(" ");
  };

  const ageOf = createAge();

  /** @returns what came of it, or what went wrong */
  const attempt = async (interaction: Interaction): Promise<string> => {
    const id = interaction.id;
    if (ageOf(interaction.createdTimestamp) > STALE_MS) {
      log.warn({ interaction: id }, "An interaction came too late to be answered");
      return "dropped";
    }
    try {
      return await handle(interaction);
    } catch (error) {
      if (hasCode(error, DISCORD.alreadyAcknowledged)) {
        // Two processes on one shard, while one takes over from the other.
        log.debug({ interaction: id }, "Another process answered first");
        return "twin";
      }
      if (hasCode(error, DISCORD.unknownInteraction)) {
        log.warn({ interaction: id }, "An answer came too late for Discord");
        return "late";
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
    metrics.interaction(name, outcome, ms);
    log.debug({ interaction: interaction.id, name, outcome, ms: Math.round(ms) }, "Interaction");
  };
}

/** Discord wants an answer within 3 s: what is older than this when it comes in is not begun, in ms. */
const STALE_MS = 2_500;

/** Only whose answer it is may change it; a message without an owner, such as an announcement, nobody may. */
function mayUpdate(message: Message, userId: string): boolean {
  return message.flags.has(MessageFlags.Ephemeral) || message.interactionMetadata?.user.id === userId;
}

/** How many pages a message's list has, as its page button says ("3 / 12"). */
function pagesOn(message: Message | null): string {
  const buttons = (message?.components ?? []).flatMap((row) =>
    row.type === ComponentType.ActionRow ? row.components : [],
  );
  const jump = buttons.find(
    (each) => each.type === ComponentType.Button && each.customId?.startsWith(SLOT.jump),
  );
  const label = jump && "label" in jump ? jump.label : undefined;
  return label?.split("/").at(-1)?.trim() ?? String(LAST_PAGE);
}

function linksOn(message: Message): string[] {
  return message.components.flatMap((row) =>
    row.type === ComponentType.ActionRow
      ? row.components.flatMap((component) =>
          "customId" in component && component.customId ? [component.customId] : [],
        )
      : [],
  );
}

/** Whether two addresses are the same thing on another page, or in another order. */
function sameThing(a: Address, b: Address): boolean {
  const idOf = ({ parameters }: Address) => ("id" in parameters ? parameters.id : undefined);
  return a.screen === b.screen && idOf(a) === idOf(b);
}
