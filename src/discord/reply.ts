import {
  type APIActionRowComponent,
  type APIComponentInMessageActionRow,
  type ButtonInteraction,
  type ChatInputCommandInteraction,
  DiscordAPIError,
  MessageFlags,
  type ModalSubmitInteraction,
  type StringSelectMenuInteraction,
} from "discord.js";
import type { Log } from "../log.js";
import { escapeText } from "../text/markdown.js";
import { yieldFor } from "../util/event-loop.js";
import { FinalError, PersonError } from "../util/person-error.js";
import { unlessAborted, withTimeout } from "../util/timeouts.js";
import type { Drafts } from "./drafts.js";
import { ErrorCode, explain, hasCode, isTooLate, kindOf } from "./errors.js";
import { sendDespiteBreaks } from "./first-response.js";
import { tryAgainRow } from "./forms.js";
import { toContent } from "./mentions.js";
import { type MessagePayload, withoutPictures } from "./message.js";
import { pingsIn, replacing } from "./post.js";

/** An interaction that can be answered. */
export type Answerable =
  | ChatInputCommandInteraction
  | ButtonInteraction
  | StringSelectMenuInteraction
  | ModalSubmitInteraction;

/** Destination of an answer: a new public or private message, or the message that was clicked. */
export type AnswerTarget = "public" | "private" | "update";

/** A sentence about an error, with buttons that help. */
interface Sentence {
  readonly content: string;
  readonly components?: APIActionRowComponent<APIComponentInMessageActionRow>[];
}

/** Age of an interaction at which an unfinished answer is deferred, in ms. Discord wants the first response within 3 s. */
const DEFER_AFTER_MS = 1_500;

/** Returns the interaction if it came from a message, which it can then update. */
function updatable(interaction: Answerable) {
  if (interaction.isMessageComponent()) return interaction;
  return interaction.isModalSubmit() && interaction.isFromMessage() ? interaction : undefined;
}

/** Deletes a deferred response. Returns false if it may still be there. */
const deleteDeferred = (interaction: Answerable): Promise<boolean> =>
  sendDespiteBreaks(() => interaction.deleteReply()).then(
    () => true,
    (error: unknown) => hasCode(error, ErrorCode.UnknownMessage),
  );

async function defer(interaction: Answerable, target: AnswerTarget): Promise<void> {
  const message = target === "update" ? updatable(interaction) : undefined;
  const flags = target === "private" ? { flags: MessageFlags.Ephemeral as const } : {};
  await sendDespiteBreaks(() => (message ? message.deferUpdate() : interaction.deferReply(flags)));
  // discord.js does not know it if only the refused one was answered.
  interaction.deferred = true;
}

async function sendReply(
  interaction: Answerable,
  target: AnswerTarget,
  message: MessagePayload,
): Promise<void> {
  const clicked = target === "update" ? updatable(interaction) : undefined;
  // discord.js adds the files to this array, so it needs a new one.
  const { content: replaced = "", flags } = clicked?.message ?? {};
  // A private message was not delivered to a role. What looks like a ping is part of its text.
  const pings = flags?.has(MessageFlags.Ephemeral) ? "" : pingsIn(replaced);
  const payload = { ...replacing(message, replaced, pings), attachments: [] };
  if (interaction.deferred) {
    await interaction.editReply(payload);
    return;
  }
  if (clicked) {
    await clicked.update(payload);
    return;
  }
  // A first response has no earlier attachments to keep, so the list must be missing.
  const { attachments, ...first } = payload;
  await interaction.reply(target === "private" ? { ...first, flags: MessageFlags.Ephemeral } : first);
}

/** Sends one sentence to the person in private. A clicked message stays unchanged. */
async function sayPrivately(interaction: Answerable, target: AnswerTarget, said: Sentence): Promise<void> {
  const sentence = { ...said, allowedMentions: { parse: [] } };
  if (!interaction.deferred) {
    await sendDespiteBreaks(() => interaction.reply({ ...sentence, flags: MessageFlags.Ephemeral }));
  } else if (target === "private") {
    await sendDespiteBreaks(() => interaction.editReply(sentence));
  } else {
    const followUp = () => interaction.followUp({ ...sentence, flags: MessageFlags.Ephemeral });
    // A public deferral cannot become private in place. If it cannot be deleted, everybody sees the sentence in its place.
    const isDeleted = target === "update" || (await deleteDeferred(interaction));
    await sendDespiteBreaks(isDeleted ? followUp : () => interaction.editReply(sentence));
  }
}

/**
 * Sends an answer. If the work is not done in time, the response is deferred and edited later. An error becomes a private
 * sentence.
 * @param sentenceOf returns the sentence. `isDone` is true if the work is done, and only its answer could not be sent
 * @param ageMs age of the interaction. It may have waited, for Discord or for a busy process
 */
async function answerInteraction(
  interaction: Answerable,
  target: AnswerTarget,
  work: Promise<MessagePayload>,
  sentenceOf: (error: unknown, isDone: boolean) => Sentence,
  ageMs: number,
): Promise<void> {
  const settled = Promise.allSettled([work]);
  const early = await withTimeout(settled, Math.max(0, DEFER_AFTER_MS - ageMs), () => undefined);
  if (!early) await defer(interaction, target);
  const [result] = early ?? (await settled);
  if (result.status === "rejected") {
    await sayPrivately(interaction, target, sentenceOf(result.reason, false));
    return;
  }
  // Sending reads the files in full. Yield first, because creating them has already used this turn of the event loop.
  await yieldFor(result.value.files.reduce((sum, { attachment }) => sum + attachment.length, 0));
  const payload = result.value;
  try {
    await sendDespiteBreaks(() => sendReply(interaction, target, payload));
  } catch (error) {
    if (isTooLate(error) || hasCode(error, ErrorCode.InteractionHasAlreadyBeenAcknowledged)) throw error;
    // Discord rejects more picture URLs than it documents, so try again without pictures.
    const isSent =
      error instanceof DiscordAPIError &&
      (await sendReply(interaction, target, withoutPictures(payload)).then(
        () => true,
        () => false,
      ));
    if (!isSent) await sayPrivately(interaction, target, sentenceOf(error, true));
  }
}

interface AnsweringDeps {
  readonly drafts: Drafts;
  /** Discord's ids by command path, such as "validator list". */
  readonly commandPaths: () => ReadonlyMap<string, string>;
  /** Aborted shortly before the bot ends. */
  readonly stopping: AbortSignal;
  readonly log: Log;
}

/** Sends answers, and sentences about errors. Both functions return the outcome, for the metrics. */
export interface Answering {
  /**
   * Sends the answer that `makeAnswer` returns, or a sentence if it or the choice of the network fails.
   * @param ageMs age of the interaction
   */
  answer<Services extends { readonly label: string | undefined }>(
    interaction: Answerable,
    target: AnswerTarget,
    services: Promise<Services>,
    makeAnswer: (services: Services) => Promise<MessagePayload>,
    ageMs: number,
  ): Promise<string>;
  /** Tells a person in private why a dialog did not open. */
  refuse(click: ButtonInteraction | StringSelectMenuInteraction, error: unknown): Promise<string>;
}

/** Creates the answers of a bot. Those in progress when it stops are given up, so that their people are told. */
export function createAnswering({ drafts, commandPaths, stopping, log }: AnsweringDeps): Answering {
  const sentenceFor = (interaction: Answerable, error: unknown, isDone: boolean, label?: string) => {
    const doneNote = isDone ? "\n-# If you were changing something, it's done." : "";
    const network = label === undefined ? "" : `\n-# ${escapeText(label)}`;
    const content = toContent(explain(error, log, interaction.id), commandPaths(), `${doneNote}${network}`);
    // Offer "Try again", so that the person doesn't have to find the button or the menu again.
    const mayCorrect = error instanceof PersonError && !(error instanceof FinalError);
    const isToCorrect = mayCorrect && interaction.isModalSubmit() && drafts.of(interaction) !== undefined;
    return isToCorrect ? { content, components: [tryAgainRow(interaction.customId)] } : { content };
  };
  return {
    async answer(interaction, target, services, makeAnswer, ageMs) {
      let outcome = "answered";
      let label: string | undefined;
      const making = services.then((own) => {
        label = own.label;
        return makeAnswer(own);
      });
      const answerWork = unlessAborted(making, stopping).then((answer) => {
        if (!answer)
          throw new FinalError("I'm being restarted, and can't finish this. Please try again in a minute.");
        return answer;
      });
      const explained = (error: unknown, isDone: boolean) => {
        outcome = kindOf(error);
        return sentenceFor(interaction, error, isDone, label);
      };
      await answerInteraction(interaction, target, answerWork, explained, ageMs);
      return outcome;
    },
    async refuse(click, error) {
      const { content } = sentenceFor(click, error, false);
      await sendDespiteBreaks(() => click.reply({ content, flags: MessageFlags.Ephemeral }));
      return kindOf(error);
    },
  };
}
