import type { Message } from "../sandbox/discord/world.js";
import { DAY, HOUR, MINUTE } from "../src/util/units.js";
import { type History, WATCHED, type Window, windowAt } from "./history.js";

/** What was subscribed, as the oracle knows it. */
export interface Watch {
  readonly channelId: string;
  /** By number. */
  readonly validator: number;
  readonly afterMs: number;
}

/** What each channel and person must have been told, and what came of it. */
interface OracleInput {
  readonly history: History;
  readonly watches: readonly Watch[];
  /** Channels that hear of newcomers, and of vote requests. */
  readonly newcomers: readonly string[];
  readonly governance: readonly string[];
  readonly messages: ReadonlyMap<string, readonly Message[]>;
  /** When no process was there. */
  readonly down: readonly Window[];
}

const POLL_MS = 5 * MINUTE;
/** In so much time without a fault everything that is due is told. */
const CLEAN_MS = 6 * POLL_MS;
/** After a fault, what was put off by it is made up for. */
const RECOVERY_MS = 20 * MINUTE;
const LAG_MS = 20 * MINUTE;

/** When the silence after a moment is over, as far as it is longer than a few reports. */
function nextSilenceOf(history: History, validator: number, from: number): number {
  for (let at = from; at < history.endAt; ) {
    const next = history.nextReport(validator, at);
    if (next - at > 15 * MINUTE) return next;
    at = next;
  }
  return history.endAt;
}

const secondOf = (ms: number) => Math.floor(ms / 1_000);

/** What is wrong with what was told, each in a line. It knows the history and the messages, and none of the bot's code. */
export function judge({ history, watches, newcomers, governance, messages, down }: OracleInput): string[] {
  const wrong: string[] = [];
  const { startAt, endAt, lags, explorerFaults, discordFaults, jumps } = history;
  const unclean = [
    ...lags.map(({ from, to }) => ({ from, to: to + 2 * POLL_MS })),
    ...explorerFaults,
    ...discordFaults,
    ...jumps,
    ...down,
  ]
    .map(({ from, to }) => ({ from: from - MINUTE, to: to + RECOVERY_MS }))
    .sort((a, b) => a.from - b.from);
  /** Whether there is so much time in a row without a fault between two moments. */
  const isClean = (from: number, to: number, ms = CLEAN_MS): boolean => {
    let at = from;
    for (const window of unclean) {
      if (window.to <= at) continue;
      if (window.from - at >= ms || window.from >= to) break;
      at = Math.max(at, window.to);
    }
    return Math.min(to, endAt) - at >= ms;
  };
  const textsIn = (channelId: string) =>
    (messages.get(channelId) ?? []).map((message) => ({
      text: `${message.content}\n${JSON.stringify(message.embeds)}`,
      content: message.content,
      title: (message.embeds[0] as { title?: string } | undefined)?.title ?? "",
      at: Date.parse(message.timestamp),
    }));
  const all = new Map([...messages.keys()].map((channelId) => [channelId, textsIn(channelId)]));
  const overlapsJump = (from: number, to: number) => jumps.some((jump) => jump.from < to && jump.to > from);

  for (const { channelId, validator, afterMs } of watches) {
    const own = all.get(channelId) ?? [];
    const name = `Node ${validator}`;
    for (let since = history.lastReport(validator, startAt + DAY / 4); since < endAt; ) {
      const next = history.nextReport(validator, since);
      const silentMs = next - since;
      if (silentMs > 15 * MINUTE) {
        const where = `${name} in ${channelId}, silent from ${new Date(since).toISOString()} for ${Math.round(silentMs / MINUTE)} min (after ${afterMs / MINUTE})`;
        const stamp = `<t:${secondOf(since)}:f>`;
        const cards = own.filter(
          ({ content }) => content.includes(`${name} went silent`) && content.includes(stamp),
        );
        // Those that were called silent a little later stand in the message, and not in what it notified with.
        const many = own.filter(
          ({ content, text, at }) =>
            /validators went silent at about/.test(content) &&
            new RegExp(`(🔴|🟢) ${name}(?!\\d)`, "u").test(text) &&
            at > since - HOUR &&
            at < next + DAY,
        );
        const within = many.filter(({ content }) => {
          const told = Number(/<t:(\d+):t>/.exec(content)?.[1]) * 1_000;
          return Math.abs(told - since) <= 16 * MINUTE;
        });
        const told = cards.length + (cards.length > 0 ? 0 : within.length);
        const seenAgainAt = windowAt(lags, next)?.to ?? next;
        const slack = overlapsJump(since, seenAgainAt + HOUR) ? 10 * MINUTE : 0;
        if (told > 1) wrong.push(`Told ${told} times: ${where}`);
        if (told > 0 && seenAgainAt - since <= afterMs - slack) wrong.push(`Told too early: ${where}`);
        // Two readings in a row must agree; a process that has just begun reads at once.
        const confirmedAt = since + afterMs + POLL_MS - slack;
        const hasBegun = down.some(({ to }) => to > since + afterMs - slack && to < confirmedAt + MINUTE);
        if (!hasBegun && cards.some(({ at }) => at < confirmedAt - 10_000))
          wrong.push(`Told before it was confirmed: ${where}`);
        if (told === 0 && isClean(since + afterMs, next)) wrong.push(`Not told: ${where}`);
        // It may be seen again by a later report than the first.
        const until = nextSilenceOf(history, validator, next);
        const back = own.filter(
          ({ title, content, at }) =>
            title === `🟢 Back: ${name}` && !content.includes("went silent") && at >= next && at < until,
        ).length;
        if (back > 1) wrong.push(`Told ${back} times that it is back: ${where}`);
        if (back > 0 && cards.length === 0 && within.length === 0)
          wrong.push(`Back, and never silent: ${where}`);
        if (back === 0 && cards.length === 1 && within.length === 0 && isClean(next, next + 8 * HOUR))
          wrong.push(`Not told that it is back: ${where}`);
      }
      since = next;
    }
    const strangers = own.filter(({ content }) => / went silent: last seen/.test(content)).length;
    if (strangers > 0 && validator >= WATCHED) wrong.push(`${name} is watched by nobody`);
  }

  for (const channelId of new Set(watches.map((each) => each.channelId))) {
    const holds = (all.get(channelId) ?? []).filter(({ content }) => content.includes("alerts are on hold"));
    for (const lag of lags) {
      const own = holds.filter(({ at }) => at >= lag.from && at <= lag.to + 30 * MINUTE).length;
      const where = `the lag from ${new Date(lag.from).toISOString()} in ${channelId}`;
      if (own > 1) wrong.push(`On hold ${own} times: ${where}`);
      const others = [...explorerFaults, ...discordFaults, ...jumps, ...down].filter(
        ({ from, to }) => to + RECOVERY_MS > lag.from && from < lag.to,
      );
      if (own === 0 && others.length === 0 && lag.to - lag.from > LAG_MS + 4 * POLL_MS)
        wrong.push(`Not told to be on hold: ${where}`);
    }
    if (jumps.length === 0 && holds.length > lags.length)
      wrong.push(`${holds.length} holds, ${lags.length} lags: ${channelId}`);
  }

  for (const channelId of newcomers) {
    const old = (all.get(channelId) ?? []).filter(({ content }) => /Node \d/.test(content)).length;
    if (old > 0) wrong.push(`Told of ${old} that were there before: ${channelId}`);
  }
  const count = (channelId: string, part: string) =>
    (all.get(channelId) ?? []).filter(({ text }) => text.includes(part)).length;
  for (const happening of history.happenings) {
    if (happening.kind === "join")
      for (const channelId of newcomers) {
        const told = count(channelId, `${happening.name}`);
        if (told > 1) wrong.push(`Told ${told} times: ${happening.name} in ${channelId}`);
        if (told === 0 && isClean(happening.at, endAt))
          wrong.push(`Not told: ${happening.name} in ${channelId}`);
      }
    if (happening.kind === "open" && happening.at > startAt + DAY / 4)
      for (const channelId of governance) {
        const own = all.get(channelId) ?? [];
        const about = own.filter(
          ({ text }) =>
            text.includes(`"${happening.title}`) ||
            text.includes(`: ${happening.title}"`) ||
            text.includes(happening.title),
        );
        const opened = about.filter(({ content }) =>
          /^Vote request: |new vote requests/.test(content),
        ).length;
        const closed = about.filter(({ title }) => title.startsWith("Closed: ")).length;
        const where = `${happening.title} of ${new Date(happening.at).toISOString()} in ${channelId}`;
        if (opened > 1) wrong.push(`Opened ${opened} times: ${where}`);
        if (closed > 1) wrong.push(`Closed ${closed} times: ${where}`);
        if (opened === 0 && isClean(happening.at, happening.at + happening.lastsMs))
          wrong.push(`Not opened: ${where}`);
        if (
          closed === 0 &&
          opened === 1 &&
          isClean(happening.at + happening.lastsMs, endAt) &&
          isClean(happening.at, happening.at + happening.lastsMs)
        )
          wrong.push(`Not closed: ${where}`);
      }
  }
  return wrong;
}
