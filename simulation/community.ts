import { PERMISSION, USUAL } from "../sandbox/discord/permissions.js";
import type { World } from "../sandbox/discord/world.js";
import type { Ledger } from "../sandbox/explorer/ledger.js";
import type { Random } from "../sandbox/explorer/random.js";
import { type Subscription, subscriptionId } from "../src/delivery/collections.js";
import { defaultsOf } from "../src/delivery/feed.js";
import { feeds } from "../src/feeds/index.js";
import { voterSubject } from "../src/ledger/votes.js";
import type { Write } from "../src/storage/store.js";
import { DAY, HOUR, MINUTE } from "../src/util/units.js";
import type { History } from "./history/index.js";
import { type MappedVoters, mapVoters } from "./voters.js";

/** A subscription to a validator. */
export interface ValidatorWatch {
  readonly channelId: string;
  /** Number of the validator. */
  readonly validator: number;
  /** The chosen time without a report, in ms. 0 for "automatic". */
  readonly afterMs: number;
  /** Role to ping, null for none. */
  readonly roleId: string | null;
  readonly traffic: boolean;
}

/** A watch of a group's member, from the time when it was added to the group until it was removed. */
export interface MemberWatch extends ValidatorWatch {
  readonly from: number;
  to?: number;
}

/** A price alert. */
export interface PriceWatch {
  readonly channelId: string;
  readonly when: "above" | "below" | "moves";
  /** USD, or percent within an hour. */
  readonly value: number;
  readonly isOnce: boolean;
}

/** A subscription to vote requests. */
export interface GovernanceWatch {
  readonly channelId: string;
  /** Title of the only request that is watched, and the time since when. Missing if all requests are. */
  readonly only?: { readonly title: string; readonly since: number };
  /** Times of reminders before each deadline, in ms. */
  readonly before: readonly number[];
  /** True if each vote is announced, and people with missing votes are pinged. */
  readonly votes: boolean;
}

/** A subscription to a digest. Times are in the time zone of Berlin. */
export interface DigestWatch {
  readonly channelId: string;
  readonly every: "day" | "week";
  /** As `HH:MM`. Weekday 1 is Monday. */
  readonly time: string;
  readonly weekday: number;
}

/** A server and a person with their subscriptions. */
export interface Community extends Omit<MappedVoters, "writes"> {
  readonly ownerId: string;
  readonly moderatorId: string;
  readonly personId: string;
  /** The person's direct message channel. */
  readonly directId: string;
  readonly validators: readonly ValidatorWatch[];
  /** The channel whose subscription is changed in dialogs, its role, and the members so far. */
  readonly group: { readonly channelId: string; readonly roleId: string; readonly watches: MemberWatch[] };
  /** Number of validators that are watched by somebody. */
  readonly watchedCount: number;
  readonly prices: readonly PriceWatch[];
  readonly governance: GovernanceWatch[];
  readonly digests: readonly DigestWatch[];
  readonly guildId: string;
  /** Name of the super validator whose missing votes the person is reminded of. */
  readonly voterName: string;
  /** Channels that are subscribed to new validators. */
  readonly newcomers: readonly string[];
  /** The channel that is subscribed to upgrades, and to nothing about validators. */
  readonly upgrades: string;
  /** Writes of the initial subscriptions. */
  readonly writes: readonly Write[];
  /** Returns the write that makes the person watch a vote request. */
  watchProposal(identity: string, title: string, now: number): Write;
}

/** Times at which the person is reminded of a missing vote, in ms before each deadline. */
export const VOTER_REMINDERS = [2 * DAY, DAY, 6 * HOUR];

const PRICES = [
  { when: "above", value: 0.156, isOnce: false },
  { when: "below", value: 0.144, isOnce: false },
  { when: "moves", value: 3, isOnce: false },
  { when: "above", value: 0.16, isOnce: true },
] as const;

/** Sets up a server with six channels, and a person with private watches. */
export function createCommunity(
  discord: World,
  ledger: Ledger,
  random: Random,
  { startAt, watchedCount }: Pick<History, "startAt" | "watchedCount">,
): Community {
  const owner = discord.addUser("Owner");
  const guild = discord.addGuild("Community", owner, USUAL);
  const own = discord.addRole(guild, "Crier", PERMISSION.createEvents | PERMISSION.mentionEveryone);
  guild.members.set(discord.bot.id, [own.id]);
  const role = discord.addRole(guild, "Operators", 0n, { mentionable: true });
  const channels = Array.from({ length: 6 }, (_, index) =>
    discord.addChannel({ type: 0, guild_id: guild.id, name: `channel-${index}` }),
  );
  const person = discord.addUser("Ana");
  const moderator = discord.addUser("Mo");
  guild.members.set(moderator.id, [discord.addRole(guild, "Moderators", PERMISSION.manageGuild).id]);
  const direct = discord.directChannel(person).id;
  const [first = "", second = "", third = "", fourth = "", fifth = "", sixth = ""] = channels.map(
    ({ id }) => id,
  );

  const subscription = (channelId: string, feedName: string, subject: string | null, more: object = {}) => {
    const definition = feeds.find((feed) => feed.definition.name === feedName)?.definition;
    if (!definition) throw new RangeError(feedName);
    const { settings } = (channelId === direct && definition.watches?.[0]) || {};
    const each: Subscription = {
      ...defaultsOf(definition),
      ...settings,
      channelId,
      feed: feedName,
      subject,
      guildId: channelId === direct ? null : guild.id,
      userId: channelId === direct ? person.id : null,
      forum: false,
      tagId: null,
      since: startAt,
      ...more,
    };
    const id = subscriptionId(channelId, feedName, subject);
    return { op: "put" as const, collection: "subscriptions", id, text: JSON.stringify(each) };
  };

  const writes: Write[] = [];
  const validators: ValidatorWatch[] = [];
  const partyOf = (number: number) =>
    ledger.validators.find(({ party }) => party.name === `Node ${number}`)?.party.id ?? "";
  for (const channelId of [first, second, third, direct])
    for (let validator = 0; validator < watchedCount; validator += 1) {
      if (random.chance(0.5)) continue;
      const afterMs = random.pick([0, 20 * MINUTE, 45 * MINUTE, 3 * HOUR]);
      const roleId = channelId === first ? role.id : null;
      const traffic = channelId === second || channelId === direct;
      validators.push({ channelId, validator, afterMs, roleId, traffic });
      const topics = { silent: true, version: true, traffic };
      writes.push(
        subscription(channelId, "validator", partyOf(validator), {
          ...(afterMs === 0 ? {} : { after: afterMs, chosen: ["after"] }),
          roleId,
          topics,
        }),
      );
    }
  const prices = PRICES.flatMap((each) => [fifth, direct].map((channelId) => ({ channelId, ...each })));
  for (const { channelId, when, value, isOnce } of prices)
    writes.push(
      subscription(channelId, "price", when === "moves" ? `moves-${value}-1h` : `${when}-${value}`, {
        when,
        value: String(value),
        over: "1h",
        repeat: isOnce ? "once" : "every",
      }),
    );
  const governance: GovernanceWatch[] = [];
  for (const channelId of [fourth, fifth]) {
    const votes = channelId === fifth;
    governance.push({ channelId, before: [2 * DAY, DAY, 6 * HOUR], votes });
    const topics = { new: true, outcome: true, reminders: true, decided: true, votes, calendar: votes };
    writes.push(subscription(channelId, "governance", null, votes ? { topics, missing: "ping" } : {}));
  }
  const helper = discord.addUser("Sam");
  guild.members.set(helper.id, []);
  const [, , , reminding, alsoPinging] = channels;
  if (!reminding || !alsoPinging) throw new RangeError("There are too few channels");
  const [mappedFirst, [voter], mappedLast] = [
    ledger.superValidators.slice(0, 5),
    ledger.superValidators.slice(5),
    ledger.superValidators.slice(6, 8),
  ];
  const voters = mapVoters([...mappedFirst, ...mappedLast], {
    discord,
    guild,
    pinging: { setBy: moderator, where: alsoPinging },
    elsewhere: { setBy: helper, where: reminding },
    setAt: startAt,
  });
  writes.push(...voters.writes);
  writes.push(
    subscription(direct, "governance", voterSubject(voter?.id ?? ""), {
      topics: { new: false, outcome: false, reminders: true, decided: false, changes: false, votes: false },
      before: VOTER_REMINDERS,
    }),
  );
  const digests: readonly DigestWatch[] = [
    // This time is skipped, or occurs twice, in the night in which clocks change.
    { channelId: third, every: "day", time: "02:30", weekday: 1 },
    { channelId: fifth, every: "week", time: "09:00", weekday: 1 },
  ];
  for (const { channelId, every, time } of digests)
    writes.push(
      subscription(channelId, "digest", null, { every, on: "monday", at: time, zone: "Europe/Berlin" }),
    );
  writes.push(subscription(fourth, "newcomers", null), subscription(fourth, "upgrades", null));

  return {
    ownerId: owner.id,
    moderatorId: moderator.id,
    personId: person.id,
    directId: direct,
    validators,
    group: { channelId: sixth, roleId: role.id, watches: [] },
    watchedCount,
    prices,
    governance,
    digests,
    voterName: voter?.name ?? "",
    mapped: voters.mapped,
    unpingable: voters.unpingable,
    guildId: guild.id,
    newcomers: [fourth],
    upgrades: fourth,
    writes,
    watchProposal(identity, title, now) {
      governance.push({ channelId: direct, only: { title, since: now }, before: [DAY], votes: false });
      return subscription(direct, "governance", identity, { since: now });
    },
  };
}
