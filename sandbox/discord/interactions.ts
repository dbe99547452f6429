import { alreadyAcknowledged, unknownInteraction, unknownWebhook } from "./errors.js";
import { createMessage, editMessage, type Sent, type Upload } from "./messages.js";
import { checkChoices, checkMessage, checkModal } from "./validate.js";
import type { Channel, Message, User, World } from "./world.js";

const TOKEN_MS = 15 * 60_000;
const EPHEMERAL = 64;

/** A dialog opened by the bot. */
export interface Dialog {
  readonly custom_id: string;
  readonly title: string;
  readonly components: readonly DialogLabel[];
}

/** A field of a dialog with its label. */
export interface DialogLabel {
  readonly type: 18;
  readonly label: string;
  readonly description?: string;
  readonly component: DialogComponent;
}

/** A text input (4), a menu of roles (6) or channels (8), or a group of radio buttons (21) or checkboxes (22). */
export interface DialogComponent {
  readonly type: number;
  readonly custom_id: string;
  readonly required?: boolean;
  readonly value?: string;
  readonly max_length?: number;
  readonly channel_types?: readonly number[];
  readonly default_values?: readonly { readonly id: string }[];
  readonly options?: readonly {
    readonly value: string;
    readonly label: string;
    readonly default?: boolean;
  }[];
}

/** Returns the values that a field of a dialog has when it opens. */
export function initialValues({ value, default_values = [], options = [] }: DialogComponent): string[] {
  if (value !== undefined) return [value];
  const chosen = options.flatMap((each) => (each.default ? [each.value] : []));
  return [...default_values.map(({ id }) => id), ...chosen];
}

/** A person's interaction and the bot's answers. */
export interface Interaction {
  readonly id: string;
  readonly token: string;
  readonly createdAt: number;
  readonly user: User;
  readonly channel: Channel;
  readonly type: number;
  /** The message that was clicked. */
  readonly source: Message | undefined;
  readonly metadata: object;
  /** Discord's type of the first answer, `undefined` without an answer. */
  answered: number | undefined;
  /** Times of the interaction and of its first answer, in ms of performance.now(). */
  readonly sentAt: number;
  answeredAt: number | undefined;
  ephemeral: boolean;
  /** True while it shows "is thinking…". */
  thinking: boolean;
  original: Message | undefined;
  /** All messages that answer it. */
  readonly messages: Message[];
  dialog: Dialog | undefined;
  choices: readonly { name: string; value: string | number }[] | undefined;
  /** True if it has changed the clicked message. */
  updated: boolean;
}

interface Callback {
  readonly type: number;
  readonly data?: Sent & { choices?: { name: string; value: string | number }[] } & Partial<Dialog>;
}

function add(world: World, interaction: Interaction, sent: Sent, uploads: readonly Upload[]): Message {
  const message = createMessage(world, interaction.channel, sent, {
    author: world.bot,
    uploads,
    more: {
      type: interaction.source ? 0 : 20,
      application_id: world.bot.id,
      interaction_metadata: interaction.metadata,
      ...(interaction.ephemeral ? { visibleTo: interaction.user.id, flags: EPHEMERAL, pings: [] } : {}),
    },
  });
  interaction.messages.push(message);
  return message;
}

/**
 * Handles the first answer to an interaction.
 * @throws {DiscordError} 10062 after 3 s, 40060 for a second one, 50035
 */
export function respond(
  world: World,
  interaction: Interaction,
  { type, data = {} }: Callback,
  uploads: readonly Upload[],
): void {
  if (world.now() - interaction.createdAt > world.respondMs) throw unknownInteraction();
  if (interaction.answered !== undefined) throw alreadyAcknowledged();
  const ephemeral = ((data.flags ?? 0) & EPHEMERAL) !== 0;
  switch (type) {
    case 4:
      checkMessage(
        { ...data },
        uploads.map(({ name, body }) => ({ name, bytes: body.length })),
      );
      interaction.ephemeral = ephemeral;
      interaction.original = add(world, interaction, data, uploads);
      break;
    case 5:
      interaction.ephemeral = ephemeral;
      interaction.thinking = true;
      break;
    case 6:
      interaction.original = interaction.source;
      break;
    case 7:
      if (!interaction.source) throw unknownInteraction();
      editMessage(world, interaction.source, data, uploads);
      interaction.original = interaction.source;
      interaction.updated = true;
      break;
    case 8:
      checkChoices(data.choices);
      interaction.choices = data.choices ?? [];
      break;
    case 9:
      checkModal({ ...data });
      interaction.dialog = {
        custom_id: data.custom_id ?? "",
        title: data.title ?? "",
        components: data.components as never,
      };
      break;
    default:
      throw unknownInteraction();
  }
  interaction.answered = type;
  interaction.answeredAt = performance.now();
  world.changed();
}

function checkToken(world: World, interaction: Interaction): void {
  if (world.now() - interaction.createdAt > TOKEN_MS) throw unknownWebhook();
}

/**
 * Edits the first answer. A deferred answer appears with its first edit.
 * @throws {DiscordError}
 */
export function editOriginal(
  world: World,
  interaction: Interaction,
  sent: Sent,
  uploads: readonly Upload[],
): Message {
  checkToken(world, interaction);
  if (interaction.thinking) {
    interaction.original = add(world, interaction, sent, uploads);
    interaction.thinking = false;
    world.changed();
    return interaction.original;
  }
  if (!interaction.original) throw unknownWebhook();
  interaction.updated = true;
  return editMessage(world, interaction.original, sent, uploads);
}

/** Deletes the first answer, or the "thinking" message. */
export function deleteOriginal(world: World, interaction: Interaction): Message | undefined {
  checkToken(world, interaction);
  const { original } = interaction;
  interaction.thinking = false;
  interaction.original = undefined;
  world.changed();
  return original;
}

/**
 * Adds a follow-up message. While the first answer is still thinking, the message replaces it and is private
 * if that was.
 */
export function followUp(
  world: World,
  interaction: Interaction,
  sent: Sent,
  uploads: readonly Upload[],
): Message {
  checkToken(world, interaction);
  if (interaction.answered === undefined) throw unknownWebhook();
  if (interaction.thinking) return editOriginal(world, interaction, sent, uploads);
  const ephemeral = ((sent.flags ?? 0) & EPHEMERAL) !== 0;
  return add(world, { ...interaction, ephemeral }, sent, uploads);
}
