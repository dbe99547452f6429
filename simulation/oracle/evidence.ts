import type { Message } from "../../sandbox/discord/world.js";
import type { ScreenName } from "../../src/screens/addresses.js";
import { MINUTE, SECOND } from "../../src/util/units.js";
import type { Community } from "../community.js";
import type { History } from "../history/index.js";
import { type Window, windowAt } from "../history/windows.js";

/** A person's response to an alert. */
export interface Answer {
  readonly at: number;
  readonly channelId: string;
  /** Number of the validator. */
  readonly validator: number;
  /** Last report of the validator, epoch ms. */
  readonly since: number;
  readonly says: History["looks"][number]["says"];
  /** True if the bot answered. Otherwise it is unknown if the response counts. */
  readonly isSure: boolean;
}

/** A vote in the ledger's count. */
export interface Cast {
  readonly at: number;
  readonly title: string;
  readonly accept: boolean;
  /** True if the vote was taken back, to be cast otherwise. */
  readonly isUndone?: boolean;
}

/** A vote with the voter's name. */
export interface Ballot {
  readonly at: number;
  readonly title: string;
  readonly voter: string;
  readonly accept: boolean;
  /** True if it was cast with the request. */
  readonly isOwn: boolean;
}

/** One validator takes another's place as a super validator. */
export interface Succession {
  readonly at: number;
  readonly former: string;
  readonly successor: string;
}

/** A message about an explorer that is behind, as it was at a time. */
export interface HoldPage {
  readonly at: number;
  readonly channelId: string;
  readonly text: string;
}

/** Names of the current events in a server's calendar at a time. */
export interface CalendarPage {
  readonly at: number;
  readonly names: readonly string[];
}

/** A screen, a list or suggestions that were shown to a member. */
export interface Visit {
  /** Times of the request and of the answer, epoch ms. */
  readonly from: number;
  readonly to: number;
  readonly screen:
    | ScreenName
    | "subscriptions"
    | "setup"
    | "watches"
    | "validator choices"
    | "proposal choices"
    | "drill"
    | "standing";
  /**
   * Title of the opened vote request, name of the validator, kind of the listed requests, or feed and subject of a subscription.
   * Empty for others.
   */
  readonly about: string;
  /** Its embeds as JSON text, or the labels of the suggestions, one a line. */
  readonly text: string;
  /** Number of open vote requests on the ledger. */
  readonly open: number;
}

/** Input of the oracle: the history, the subscriptions and the messages. */
export interface Case {
  readonly history: History;
  readonly community: Community;
  readonly answers: readonly Answer[];
  readonly ballots: readonly Ballot[];
  readonly casts: readonly Cast[];
  readonly calendar: readonly CalendarPage[];
  readonly visits: readonly Visit[];
  /** Differences between the answers to changes and the stored state, one line each. */
  readonly wrong: readonly string[];
  readonly messages: ReadonlyMap<string, readonly Message[]>;
  /** Names of the super validators at the start. Their number never changes. */
  readonly superValidators: readonly string[];
  readonly successions: readonly Succession[];
  readonly holds: readonly HoldPage[];
  /** The network's name, for bots with several networks. */
  readonly label: string | undefined;
  /** Times without a running process. */
  readonly down: readonly Window[];
}

/** A message as people see it. */
export interface Told {
  readonly at: number;
  /** Text of the notification, without the network's name. */
  readonly content: string;
  /** Text of the notification, with the network's name. */
  readonly notified: string;
  readonly description: string;
  readonly text: string;
  /** The message after its last edit: its content without pings, and its embeds. */
  readonly shown: string;
}

/** Interval between polls of validators and of the price, in ms. */
export const POLL_MS = 5 * MINUTE;
/** Time without a fault within which everything that is due is announced, in ms. */
const CLEAN_MS = 6 * POLL_MS;
/** Time after a fault within which delayed messages are sent, in ms. */
export const RECOVERY_MS = 20 * MINUTE;
/** Maximum error of the bot's clock, in ms. */
export const JUMP_MS = 10 * MINUTE;

/** Time before its due time from which a reminder that was sent early is not repeated, in ms (the specification `typed.spec.ts`). */
const EARLY_MS = 5 * MINUTE;

/** Returns the number of reminders that were sent too early, because the bot's clock was ahead. The bot repeats them in time. */
export const prematureCount = (
  toldAt: readonly number[],
  due: readonly { readonly dueAt: number }[],
): number =>
  toldAt.filter((at) => due.some(({ dueAt }) => at >= dueAt - JUMP_MS && at < dueAt - EARLY_MS)).length;

export const secondOf = (ms: number): number => Math.floor(ms / SECOND);
export const iso = (ms: number): string => new Date(ms).toISOString();

/** Matches the mentions in front of a message's news. */
const PINGS = /^(?:<@&?\d+> )+/;

export type Evidence = ReturnType<typeof createEvidence>;

/** Creates the evidence of a case: its messages as people see them, and the times without faults. */
export function createEvidence({ history, messages, label, down }: Case) {
  const { endAt, lags, explorerFaults, discordFaults, jumps, standstills } = history;
  const slowest = Math.max(...[0, 1, 2].map((each) => history.bounds(each, history.startAt).most));
  const unclean = [
    ...lags.map(({ from, to }) => ({ from, to: to + 2 * POLL_MS })),
    ...explorerFaults,
    ...discordFaults,
    ...jumps,
    ...down,
  ]
    .map(({ from, to }) => ({ from: from - MINUTE, to: to + RECOVERY_MS }))
    .sort((a, b) => a.from - b.from);
  const without = (text: string) => (label === undefined ? text : text.replaceAll(` · ${label}`, ""));
  const all = new Map(
    [...messages].map(([channelId, own]) => [
      channelId,
      own.map((message): Told => {
        const { description = "" } = (message.embeds[0] ?? {}) as Partial<Told>;
        return {
          at: Date.parse(message.timestamp),
          content: without(message.notified),
          notified: message.notified,
          description,
          text: without(`${message.notified}\n${JSON.stringify(message.embeds)}`),
          shown: without(`${message.content.replace(PINGS, "")}\n${JSON.stringify(message.embeds)}`),
        };
      }),
    ]),
  );

  return {
    /** Removes the network's name from a text. */
    without,
    in: (channelId: string): readonly Told[] => all.get(channelId) ?? [],
    /** Times during which silences are on hold because of a standstill, and then because reports may be late. */
    held: standstills.map(({ from, to }) => ({ from, to: to + 2 * slowest + RECOVERY_MS })),
    /** True if there are this many ms without a fault between two times. */
    isClean(from: number, to: number, ms = CLEAN_MS, more: readonly Window[] = []): boolean {
      let at = from;
      const windows = more.length === 0 ? unclean : [...unclean, ...more].sort((a, b) => a.from - b.from);
      for (const window of windows) {
        if (window.to <= at) continue;
        if (window.from - at >= ms || window.from >= to) break;
        at = Math.max(at, window.to);
      }
      return Math.min(to, endAt) - at >= ms;
    },
    /** True if the bot's clock was wrong or was corrected during a time. */
    overlapsJump: (from: number, to: number): boolean =>
      jumps.some((jump) => jump.from < to && jump.to > from),
    /** Returns the time when the explorer first showed data of a moment. */
    toldAt: (at: number): number => windowAt(lags, at)?.to ?? at,
  };
}

/** Checks one aspect of a case. Yields a line for each error. */
export type Judge = (of: Case, evidence: Evidence) => Iterable<string>;
