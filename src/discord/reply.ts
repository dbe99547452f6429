import {
  type ButtonInteraction,
  type ChatInputCommandInteraction,
  MessageFlags,
  type ModalSubmitInteraction,
  type StringSelectMenuInteraction,
} from "discord.js";
import { yieldFor } from "../util/event-loop.js";
import { withTimeout } from "../util/timeouts.js";
import { DISCORD, hasCode, isTooLate } from "./errors.js";
import { type MessagePayload, withoutPictures } from "./message.js";

/** An interaction that wants an answer. */
export type Answerable =
  | ChatInputCommandInteraction
  | ButtonInteraction
  | StringSelectMenuInteraction
  | ModalSubmitInteraction;

/** Destination of an answer: a new public or private message, or the message that was clicked. */
export type AnswerTarget = "public" | "private" | "update";

/** Discord wants the first response within 3 s; what is not ready after this many ms is deferred. */
const DEFER_AFTER_MS = 1_500;

type Settled<T> = { readonly value: T } | { readonly error: unknown };

const settle = <T>(work: Promise<T>): Promise<Settled<T>> =>
  work.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );

/** The message can only be updated if the interaction came from one. */
function updatable(interaction: Answerable) {
  if (interaction.isMessageComponent()) return interaction;
  return interaction.isModalSubmit() && interaction.isFromMessage() ? interaction : undefined;
}

async function defer(interaction: Answerable, target: AnswerTarget): Promise<void> {
  const message = target === "update" ? updatable(interaction) : undefined;
  if (message) await message.deferUpdate();
  else await interaction.deferReply(target === "private" ? { flags: MessageFlags.Ephemeral } : {});
}

async function sendReply(
  interaction: Answerable,
  target: AnswerTarget,
  message: MessagePayload,
): Promise<void> {
  // discord.js adds the files to the list it is given.
  const payload = { ...message, attachments: [] };
  if (interaction.deferred) {
    await interaction.editReply(payload);
    return;
  }
  const clicked = target === "update" ? updatable(interaction) : undefined;
  if (clicked) {
    await clicked.update(payload);
    return;
  }
  // A first response keeps no attachments, so it may not name any.
  const { attachments, ...first } = payload;
  await interaction.reply(target === "private" ? { ...first, flags: MessageFlags.Ephemeral } : first);
}

/** Says one sentence to the person alone; a message that was clicked stays as it was. */
async function sayPrivately(interaction: Answerable, target: AnswerTarget, content: string): Promise<void> {
  const sentence = { content, allowedMentions: { parse: [] } };
  if (!interaction.deferred) {
    await interaction.reply({ ...sentence, flags: MessageFlags.Ephemeral });
  } else if (target === "private") {
    await interaction.editReply(sentence);
  } else {
    // A public deferral cannot become private in place.
    if (target === "public") await interaction.deleteReply();
    await interaction.followUp({ ...sentence, flags: MessageFlags.Ephemeral });
  }
}

/**
 * Answers: in one response if the work is done in time, else by deferring and editing. An error becomes a private
 * sentence.
 */
export async function answerInteraction(
  interaction: Answerable,
  target: AnswerTarget,
  work: Promise<MessagePayload>,
  explain: (error: unknown) => string,
): Promise<void> {
  const settled = settle(work);
  let result = await withTimeout(settled, DEFER_AFTER_MS, () => undefined);
  if (result === undefined) {
    await defer(interaction, target);
    result = await settled;
  }
  if ("error" in result) {
    await sayPrivately(interaction, target, explain(result.error));
    return;
  }
  // Files are read whole as they are sent: not in the same turn in which they were made.
  await yieldFor(result.value.files.reduce((sum, { attachment }) => sum + attachment.length, 0));
  try {
    await sendReply(interaction, target, result.value);
  } catch (error) {
    if (isTooLate(error) || hasCode(error, DISCORD.alreadyAcknowledged)) throw error;
    try {
      // Discord is stricter with pictures' addresses than anything it says of them.
      await sendReply(interaction, target, withoutPictures(result.value));
    } catch {
      await sayPrivately(interaction, target, explain(error));
    }
  }
}
