import type { BotProcess } from "../bot-process.js";
import type { Interaction } from "../discord/interactions.js";
import type { SandboxDiscord } from "../discord/server.js";

/** Maximum time until the first answer, in ms. Discord allows 3 s, but the machine is shared. */
const ANSWER_MS = 10_000;
/** Duration of an event loop turn of the sandbox that counts as a stall, in ms. */
const STALL_MS = 300;

interface Sent {
  readonly interaction: Interaction;
  readonly sentAt: number;
  readonly connection: number | undefined;
}

const describe = ({ metadata }: Interaction) => JSON.stringify(metadata).slice(0, 300);

/** Interactions that wait for their answers. */
export function createWaiting({ gateway }: SandboxDiscord, bot: BotProcess) {
  let waiting: Sent[] = [];
  // Time during which the sandbox itself stalls, for example for large files, does not count for the bot.
  let stalledMs = 0;
  let turnedAt = performance.now();
  const ownTime = () => performance.now() - stalledMs;
  /** Returns the bot's current gateway connection, `undefined` between two. */
  const connection = () => {
    const { sessions, resumes, identifies } = gateway;
    return [...sessions.values()].some(({ socket }) => socket) ? resumes + identifies : undefined;
  };
  return {
    /** Begins a turn of the play. A long one was a stall of the sandbox. */
    turn() {
      stalledMs += Math.max(0, performance.now() - turnedAt - STALL_MS);
      turnedAt = performance.now();
    },
    /** The time until now is not a stall, because the play waited. */
    waited() {
      turnedAt = performance.now();
    },
    add(interactions: readonly Interaction[]) {
      for (const interaction of interactions)
        waiting.push({ interaction, sentAt: ownTime(), connection: connection() });
    },
    /** True once all answers are complete. */
    isOver: () =>
      waiting.every(({ interaction }) => interaction.answered !== undefined && !interaction.thinking),
    /** Returns the interaction that still shows "thinking", as a problem. */
    stillThinking(): string | undefined {
      const stuck = waiting.find(({ interaction }) => interaction.thinking);
      return stuck && `Still thinking: ${describe(stuck.interaction)}`;
    },
    /** Returns the first interaction that got no answer in time, as a problem. */
    late(): string | undefined {
      // Interactions sent over a broken connection arrive too late with the next one. A stalled machine breaks
      // connections.
      waiting = waiting.filter(
        ({ interaction, connection: used }) =>
          (interaction.answered === undefined || interaction.thinking) &&
          used !== undefined &&
          used === connection(),
      );
      const late = waiting.find(
        ({ interaction, sentAt }) => interaction.answered === undefined && ownTime() - sentAt > ANSWER_MS,
      )?.interaction;
      if (!late) return undefined;
      const logged = bot
        .output()
        .split("\n")
        .filter((line) => line.includes(late.id));
      return [`An interaction of type ${late.type} went unanswered: ${describe(late)}`, ...logged].join("\n");
    },
  };
}
