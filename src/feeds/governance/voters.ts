import type { Mentions } from "../../delivery/feed.js";
import { isSameVoter, type Voter } from "../../ledger/votes.js";
import type { Subscription } from "../../storage/catalogue.js";
import type { State } from "../../storage/state.js";
import { ageOf } from "../../util/clock.js";
import { DAY } from "../../util/units.js";
import { missingIn } from "./topics.js";

/** Who is mapped in a server that has no subscription is forgotten after so long, in ms. */
const KEPT_MS = 30 * DAY;

/** Forgets who of servers without a subscription stands for super validators. */
export async function forgetVoters(
  state: State,
  subscriptions: readonly Subscription[],
  now: number,
): Promise<void> {
  // The environment's subscription does not say which server it is in.
  if (subscriptions.some(({ guildId, userId }) => guildId === null && userId === null)) return;
  const subscribed = new Set(subscriptions.map(({ guildId }) => guildId));
  const writes = [...(await state.voters.list())].flatMap(([id, voter]) => {
    const { unusedSince, ...used } = voter;
    if (subscribed.has(voter.guildId)) return unusedSince === undefined ? [] : [state.voters.put(id, used)];
    if (unusedSince === undefined) return [state.voters.put(id, { ...voter, unusedSince: now })];
    return ageOf(unusedSince, now) > KEPT_MS ? [state.voters.delete(id)] : [];
  });
  if (writes.length > 0) await state.commit(writes);
}

/** Whom a reminder pings: those of the server who stand for super validators that have not voted. */
export async function mentionsFor(
  state: State,
  recipients: readonly Subscription[],
  missing: readonly Voter[] | null,
): Promise<Mentions> {
  const guilds = recipients.filter((each) => missingIn(each) === "ping").map(({ guildId }) => guildId);
  if (guilds.length === 0 || !missing || missing.length === 0) return { userIds: [], roleIds: [] };
  const wanted = [...(await state.voters.list()).values()].filter(
    (each) => guilds.includes(each.guildId) && missing.some((voter) => isSameVoter(voter, each)),
  );
  const idsOf = (kind: "member" | "role") => [
    ...new Set(wanted.flatMap(({ who }) => (who.kind === kind ? [who.id] : []))),
  ];
  return { userIds: idsOf("member"), roleIds: idsOf("role") };
}
