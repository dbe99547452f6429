import type { ModalSubmitInteraction } from "discord.js";
import { LRUCache } from "lru-cache";
import { MINUTE } from "../util/units.js";
import { type Click, readClick } from "./clicks.js";
import { answersOf, type FormAnswers } from "./forms.js";

/** Refused dialogs whose answers are kept in memory, and for how long, in ms (Discord: a dialog lives for 15 minutes). */
const MAX_DRAFTS = 1_000;
const DRAFT_MS = 15 * MINUTE;

/** Answers of refused dialogs, so that people can correct them. */
export interface Drafts {
  /** Returns the answers of a person's refused dialog with the same link. */
  of(click: Click): FormAnswers | undefined;
  keep(dialog: ModalSubmitInteraction): void;
  forget(dialog: ModalSubmitInteraction): void;
}

/** Creates drafts by person, channel and link: some dialogs are about the channel. */
export function createDrafts(): Drafts {
  const drafts = new LRUCache<string, FormAnswers>({ max: MAX_DRAFTS, ttl: DRAFT_MS });
  const keyOf = (click: Click) =>
    JSON.stringify([click.user.id, click.guildId, click.channelId, readClick(click).parts]);
  return {
    of: (click) => drafts.get(keyOf(click)),
    keep: (dialog) => void drafts.set(keyOf(dialog), answersOf(dialog)),
    forget: (dialog) => void drafts.delete(keyOf(dialog)),
  };
}
