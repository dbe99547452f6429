import { type ButtonInteraction, MessageFlags, type StringSelectMenuInteraction } from "discord.js";
import type { Log } from "../log.js";
import { escapeText } from "../text/markdown.js";
import { FinalError, PersonError } from "../util/person-error.js";
import { unlessAborted } from "../util/timeouts.js";
import type { Drafts } from "./drafts.js";
import { explain, kindOf } from "./errors.js";
import { sendDespiteBreaks } from "./first-response.js";
import { tryAgainRow } from "./forms.js";
import { toContent } from "./mentions.js";
import type { MessagePayload } from "./message.js";
import { type Answerable, type AnswerTarget, answerInteraction } from "./reply.js";

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
