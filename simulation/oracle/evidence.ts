import type { Message } from "../../sandbox/discord/world.js";
import { MINUTE, SECOND } from "../../src/util/units.js";
import type { Community } from "../community.js";
import type { History } from "../history/index.js";
import { type Window, windowAt } from "../history/windows.js";

/** What somebody said of an alert, as the one who pressed the button saw it. */
export interface Answer {
  readonly at: number;
  readonly channelId: string;
  /** By number. */
  readonly validator: number;
  /** When it was last seen, epoch ms. */
  readonly since: number;
  readonly says: History["looks"][number]["says"];
  /** Whether the bot answered: if not, nobody knows whether it counts. */
  readonly isSure: boolean;
}

/** A vote as the ledger counts it. */
export interface Cast {
  readonly at: number;
  readonly title: string;
  readonly accept: boolean;
}

/** A vote whose voter has a name. */
export interface Ballot {
  readonly at: number;
  readonly title: string;
  readonly voter: string;
  readonly accept: boolean;
  /** Whether it came with the request itself. */
  readonly isOwn: boolean;
}

/** A server's calendar at a moment: the names of its events that are not over. */
export interface CalendarPage {
  readonly at: number;
  readonly names: readonly string[];
}

/** A screen as a member saw it. */
export interface Visit {
  /** When it was asked for, and when it came; epoch ms. */
  readonly from: number;
  readonly to: number;
  readonly screen: "voteRequest" | "proposals" | "price" | "network";
  /** The title of the vote request that was opened; empty for other screens. */
  readonly title: string;
  /** Its embeds as JSON text. */
  readonly text: string;
}

/** What the oracle knows: what happened, what was asked for, and what was said. */
export interface Case {
  readonly history: History;
  readonly community: Community;
  readonly answers: readonly Answer[];
  readonly ballots: readonly Ballot[];
  readonly casts: readonly Cast[];
  readonly calendar: readonly CalendarPage[];
  readonly visits: readonly Visit[];
  readonly messages: ReadonlyMap<string, readonly Message[]>;
  /** The network's name, for bots with several networks. */
  readonly label: string | undefined;
  /** When no process was there. */
  readonly down: readonly Window[];
}

/** A message as people read it. */
export interface Told {
  readonly at: number;
  /** The text that it notified with, without the network's name. */
  readonly content: string;
  /** The same with the network's name. */
  readonly notified: string;
  readonly description: string;
  readonly text: string;
}

/** How far apart two polls of validators and of the price are, in ms. */
export const POLL_MS = 5 * MINUTE;
/** In so much time without a fault everything that is due is told, in ms. */
const CLEAN_MS = 6 * POLL_MS;
/** After a fault, what was put off by it is made up for, in ms. */
export const RECOVERY_MS = 20 * MINUTE;
/** The furthest that the bot's clock is ever off, in ms. */
export const JUMP_MS = 10 * MINUTE;

export const secondOf = (ms: number): number => Math.floor(ms / SECOND);
export const iso = (ms: number): string => new Date(ms).toISOString();

/** What a case says when it is asked. */
export type Evidence = ReturnType<typeof createEvidence>;

/** The messages of a case as they are read, and when everything was well. */
export function createEvidence({ history, messages, label, down }: Case) {
  const { endAt, lags, explorerFaults, discordFaults, jumps } = history;
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
        };
      }),
    ]),
  );

  return {
    /** A text without the network's name. */
    without,
    in: (channelId: string): readonly Told[] => all.get(channelId) ?? [],
    /** Whether there is so much time in a row without a fault between two moments, ms. */
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
    /** Whether the bot's clock was wrong in a time, or set right. */
    overlapsJump: (from: number, to: number): boolean =>
      jumps.some((jump) => jump.from < to && jump.to > from),
    /** When the explorer first told of a moment. */
    toldAt: (at: number): number => windowAt(lags, at)?.to ?? at,
  };
}

/** One thing that is judged: what was told wrongly of it, each in a line. */
export type Judge = (of: Case, evidence: Evidence) => Iterable<string>;
