import type { Subscription } from "../../delivery/collections.js";
import type { Mentions } from "../../delivery/feed.js";
import type { FeedDeps } from "../../delivery/module.js";
import { canView, isPingable, mayPost } from "../../discord/access.js";
import { readingOnce } from "../../discord/places.js";
import { isSameVoter, type MissingVotes } from "../../ledger/votes.js";
import type { State } from "../../storage/state.js";
import type { Write } from "../../storage/store.js";
import { DAY } from "../../util/units.js";
import { type Representative, representatives, representativesIn } from "./collections.js";
import type { Reminder } from "./events.js";
import { isFor } from "./recipients.js";
import { pingsMissing } from "./topics.js";

/** Time after which the representatives of a server without subscriptions are deleted, in ms. */
const KEPT_MS = 30 * DAY;

/**
 * Deletes the representatives of servers that have had no subscriptions for 30 days. They are committed one by one, so that what a
 * moderator changes at the same time is kept.
 */
export async function forgetUnusedVoters(
  state: State,
  subscriptions: readonly Subscription[],
  now: number,
): Promise<void> {
  // The server of a subscription from the environment is unknown.
  if (subscriptions.some(({ guildId, userId }) => guildId === null && userId === null)) return;
  const subscribedGuilds = new Set(subscriptions.map(({ guildId }) => guildId));
  const voters = state.open(representatives);
  /** Returns the write that a representative needs, if any. */
  const writeFor = (id: string, { unusedSince, ...used }: Representative): Write | undefined => {
    if (subscribedGuilds.has(used.guildId))
      return unusedSince === undefined ? undefined : voters.put(id, used);
    if (unusedSince === undefined) return voters.put(id, { ...used, unusedSince: now });
    return unusedSince < now - KEPT_MS ? voters.delete(id) : undefined;
  };
  for await (const [id, voter] of voters.entries()) {
    const write = writeFor(id, voter);
    if (write) await state.commit([voters.expect(id, voter), write]);
  }
}

interface MentionDeps extends Pick<FeedDeps, "state" | "subscriptions" | "rest" | "pacer"> {
  /** Returns the bot's user id. It is asked for once. */
  readonly ownId: () => Promise<string>;
}

/**
 * Returns the representatives that a reminder pings in a channel: those of super validators that have not voted. If several
 * channels of a server ping for the same reminder, each representative is pinged in only one of them: that of the oldest
 * subscription. A member must see it, and a role must be pingable there by everyone, or by the person who mapped it.
 * @throws {Error} if Discord cannot be asked who may ping a role
 */
export async function mentionsFor(
  { state, subscriptions, rest, pacer, ownId }: MentionDeps,
  event: Reminder,
  recipients: readonly Subscription[],
  missing: MissingVotes | null,
): Promise<Mentions> {
  const noPings = { userIds: [], roleIds: [] };
  const [recipient] = recipients.filter((each) => pingsMissing(each) && isFor(each, event));
  if (!recipient?.guildId || !missing || missing.voters.length === 0) return noPings;
  const { guildId, channelId, feed } = recipient;
  // After an outage, several reminders are due at once, and other channels may get another one of them.
  const dueTogether = (event.due ?? [event.reminder]).map((reminder) => ({ ...event, reminder }));
  const subscribed = (await subscriptions.activeIn(guildId, feed)).filter(
    (each) => pingsMissing(each) && dueTogether.some((other) => isFor(each, other)),
  );
  const absent = [...(await representativesIn(state, guildId)).values()].filter((each) =>
    missing.voters.some((voter) => isSameVoter(voter, each)),
  );
  if (absent.length === 0) return noPings;
  const botId = await ownId();
  // At a deadline, the reminders of all servers are due together.
  const reader = readingOnce({
    async get(route) {
      await pacer.turn(guildId);
      return rest.get(route);
    },
  });
  const pinging = subscribed.length > 0 ? subscribed.map((each) => each.channelId) : [channelId];
  /** True if the bot can post in a channel, so that no ping is left to one that is gone or closed. */
  const isOpen = async (pingedId: string): Promise<boolean> => {
    if (pingedId === channelId) return true;
    const mayPostThere = mayPost(reader, botId, guildId, pingedId);
    // A newer channel that Discord cannot tell about must not keep this one's reminder back.
    const isOlder = pinging.indexOf(pingedId) < pinging.indexOf(channelId);
    return isOlder ? mayPostThere : mayPostThere.catch(() => false);
  };
  /** Returns the first channel in which a role may be pinged, or that a member can see, or else the first one. */
  const channelFor = async ({ who, setBy }: Representative): Promise<string | undefined> => {
    let firstOpen: string | undefined;
    for (const pingedId of pinging) {
      if (!(await isOpen(pingedId))) continue;
      const place = { guildId, channelId: pingedId, botId };
      const mayPing =
        who.kind === "role"
          ? await isPingable(reader, place, who.id, setBy)
          : pinging.length === 1 || (await canView(reader, place, who.id).catch(() => true));
      if (mayPing) return pingedId;
      firstOpen ??= pingedId;
    }
    return who.kind === "role" ? undefined : firstOpen;
  };
  const userIds = new Set<string>();
  const roleIds = new Set<string>();
  for (const each of absent)
    if ((await channelFor(each)) === channelId)
      (each.who.kind === "role" ? roleIds : userIds).add(each.who.id);
  return { userIds: [...userIds], roleIds: [...roleIds] };
}
