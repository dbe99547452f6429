import { plausible, priceAt, sampleSince } from "../../ledger/prices.js";
import { cut } from "../../text/plain.js";
import { defined } from "../../util/present.js";
import { HOUR, MINUTE } from "../../util/units.js";
import { UNREAD_MS } from "./chronicle.js";
import type { Happening } from "./collections.js";
import { type DigestScope, type Facts, isWithin, listOf, type TimeRange } from "./facts.js";
import type { Sources } from "./sources.js";
import { collectVotes } from "./vote-facts.js";

/** A shorter part of a gap within a period is not mentioned, in ms. */
const SHORT_GAP_MS = 5 * MINUTE;

/** Collects the recorded changes of validators and of their most common version. */
async function collectValidators(
  { names, chronicle, happenings: recorded, watchedBy, isSuperValidator }: Sources,
  range: DigestScope,
): Promise<Pick<Facts, "validators" | "version">> {
  const known = await chronicle();
  if (!known) return { validators: null, version: null };
  const happened = (await recorded()).filter(({ at }) => isWithin(at, range)).sort((a, b) => a.at - b.at);
  const watched = await watchedBy(range.guildId);
  const rankOf = ([party, name]: readonly [string, string | null]) => {
    if (watched.has(party)) return 0;
    return isSuperValidator(party, name) ? 1 : 2;
  };
  const namesOf = (kind: Happening["kind"]) => {
    const parties = new Map(
      happened.flatMap((each) =>
        each.kind === kind && "party" in each ? [[each.party, each.name] as const] : [],
      ),
    );
    const ranked = [...parties].sort((a, b) => rankOf(a) - rankOf(b));
    return listOf(ranked.map(([party, name]) => cut(name ?? names.called(party), 60)));
  };
  const gaps = happened.flatMap((each) =>
    each.kind === "unread" ? [each.at - Math.max(each.from, range.since)] : [],
  );
  const sinceLastMs = range.until - Math.max(known.readAt, range.since);
  if (sinceLastMs > UNREAD_MS) gaps.push(sinceLastMs);
  const unreadMs = gaps.reduce((sum, each) => sum + each, 0);
  const { version } = known;
  const before = happened.find((each) => each.kind === "version")?.from ?? null;
  return {
    validators: {
      joined: namesOf("joined"),
      silent: namesOf("silent"),
      back: namesOf("back"),
      since: known.startedAt > range.since ? known.startedAt : undefined,
      unreadMs: unreadMs >= SHORT_GAP_MS ? unreadMs : undefined,
    },
    version: version && {
      now: version.name,
      percent: version.percent,
      before: before === version.name ? null : before,
    },
  };
}

/** Maximum distance between a stored price and the start or the end of a period, in ms. */
const NEAR_PRICE_MS = 3 * HOUR;

async function collectPrice({ samples }: Sources, { since, until }: TimeRange): Promise<Facts["price"]> {
  const allSamples = plausible(await samples(), until);
  const priceNow = priceAt(allSamples, until, NEAR_PRICE_MS);
  const [pricedAt, priceBefore] = sampleSince(allSamples, since, NEAR_PRICE_MS, until) ?? [];
  if (pricedAt === undefined || priceBefore === undefined || priceNow === undefined) return null;
  return {
    from: priceBefore,
    to: priceNow,
    since: pricedAt > since + NEAR_PRICE_MS ? pricedAt : undefined,
  };
}

async function collectNetwork(
  { upgradeAt = 0, rounds }: Sources,
  { since }: TimeRange,
): Promise<Pick<Facts, "upgradeAt" | "stillSince">> {
  const newest = await rounds();
  return defined({
    upgradeAt: upgradeAt > since ? upgradeAt : undefined,
    stillSince: newest?.isStandingStill ? newest.since : undefined,
  });
}

/**
 * Collects everything that was recorded for a period.
 * @throws {StateError}
 */
export async function collectFacts(sources: Sources, range: DigestScope): Promise<Facts> {
  const period = `${range.since}/${range.until}/${range.nextAt}`;
  const voteFacts = sources.voteFacts.get(period) ?? collectVotes(sources, range);
  sources.voteFacts.set(period, voteFacts);
  return {
    ...(await voteFacts),
    ...(await collectValidators(sources, range)),
    price: await collectPrice(sources, range),
    ...(await collectNetwork(sources, range)),
  };
}
