import type { Subscription } from "../../delivery/collections.js";
import type { Mentions } from "../../delivery/feed.js";
import { isSameVoter, type MissingVotes } from "../../ledger/votes.js";
import type { State } from "../../storage/state.js";
import { ageOf } from "../../util/clock.js";
import { DAY } from "../../util/units.js";
import { representatives } from "./collections.js";
import { missingIn } from "./topics.js";

/** Time after which the representatives of a server without subscriptions are forgotten, in ms. */
const KEPT_MS = 30 * DAY;

/** Forgets the representatives of servers without subscriptions. */
export async function forgetVoters(
  state: State,
  subscriptions: readonly Subscription[],
  now: number,
): Promise<void> {
  // The environment's subscription does not say which server it is in.
  if (subscriptions.some(({ guildId, userId }) => guildId === null && userId === null)) return;
  const subscribedGuilds = new Set(subscriptions.map(({ guildId }) => guildId));
  const writes = [...(await state.open(representatives).list())].flatMap(([id, voter]) => {
    const { unusedSince, ...used } = voter;
    if (subscribedGuilds.has(voter.guildId))
      return unusedSince === undefined ? [] : [state.open(representatives).put(id, used)];
    if (unusedSince === undefined)
      return [state.open(representatives).put(id, { ...voter, unusedSince: now })];
    return ageOf(unusedSince, now) > KEPT_MS ? [state.open(representatives).delete(id)] : [];
  });
  if (writes.length > 0) await state.commit(writes);
}

/** Returns the representatives that a reminder pings: those of super validators that have not voted. */
export async function mentionsFor(
  state: State,
  recipients: readonly Subscription[],
  missing: MissingVotes | null,
): Promise<Mentions> {
  const guilds = recipients.filter((each) => missingIn(each) === "ping").map(({ guildId }) => guildId);
  if (guilds.length === 0 || !missing || missing.voters.length === 0) return { userIds: [], roleIds: [] };
  const wantedRepresentatives = [...(await state.open(representatives).list()).values()].filter(
    (each) => guilds.includes(each.guildId) && missing.voters.some((voter) => isSameVoter(voter, each)),
  );
  const idsOf = (kind: "member" | "role") => [
    ...new Set(wantedRepresentatives.flatMap(({ who }) => (who.kind === kind ? [who.id] : []))),
  ];
  return { userIds: idsOf("member"), roleIds: idsOf("role") };
}
