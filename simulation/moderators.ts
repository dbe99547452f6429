import type { Ledger } from "../sandbox/explorer/ledger.js";
import { MINUTE } from "../src/util/units.js";
import type { VirtualClock } from "./clock.js";
import type { Community } from "./community.js";
import type { Front, Presser, Typed } from "./front.js";
import type { DialogMoment } from "./history/dialogs.js";
import type { MemoryStore } from "./store.js";

/** Maximum time for an answer, in ms. Without one, the process was killed. */
const ANSWER_MS = 2 * MINUTE;
const GONE = /no longer exists/;

interface ModeratorsDeps {
  readonly clock: VirtualClock;
  readonly ledger: Ledger;
  readonly community: Community;
  readonly store: MemoryStore;
  readonly prefix: string;
  readonly front: () => Front | undefined;
  readonly onWrong: (line: string) => void;
}

/** The change that two moderators want. */
type Wanted = Pick<DialogMoment, "members" | "afterMs" | "order">;

/** Result of a change: it was made, it was refused because the group had changed, or it is not known. */
type Outcome = "kept" | "gone" | "unsure";

/** A stored group, with its members' numbers. */
interface Group {
  readonly id: string;
  readonly members: readonly number[];
  readonly afterMs: number;
  readonly roleId: string | null;
}

/**
 * Creates two moderators who change a channel's group of validators in dialogs, often at the same time. What they were told must
 * be stored, once.
 */
export function createModerators(deps: ModeratorsDeps) {
  const { clock, ledger, community, store, prefix, onWrong } = deps;
  const { channelId, roleId, watches } = community.group;
  const numberOf = new Map(
    ledger.validators.map(({ party }) => [party.id, Number(/\d+$/.exec(party.name ?? "")?.[0])]),
  );
  const inChannel = (userId: string): Presser => ({ userId, channelId, guildId: community.guildId });
  const [olga, mo] = [inChannel(community.ownerId), inChannel(community.moderatorId)];

  const stored = (): Group[] =>
    store
      .read(`${prefix}subscriptions`)
      .filter((each) => each.channelId === channelId)
      .map((each) => ({
        id: String(each.subject),
        members: String(each.subject)
          .split(" ")
          .map((party) => numberOf.get(party) ?? Number.NaN),
        afterMs: typeof each.after === "number" ? each.after : 0,
        roleId: typeof each.roleId === "string" ? each.roleId : null,
      }));

  /** Waits for an answer. It is unsure if the change is kept after an unexpected error, or if the process was killed. */
  const outcomeOf = (answer: Promise<unknown>): Promise<Outcome> =>
    Promise.race([
      answer.then(
        () => "kept" as const,
        (error: unknown) => (GONE.test(String(error)) ? ("gone" as const) : ("unsure" as const)),
      ),
      clock.delay(ANSWER_MS).then(() => "unsure" as const),
    ]);

  /** Ends the watches of former members and begins those of new ones. Whatever happens in between is not judged. */
  const noteMembers = (startedAt: number) => {
    const groups = stored();
    for (const watch of watches) {
      const isOver = !groups.some(
        ({ members, afterMs }) => members.includes(watch.validator) && afterMs === watch.afterMs,
      );
      if (watch.to === undefined && isOver) watch.to = startedAt;
    }
    for (const { members, ...settings } of groups)
      for (const validator of members)
        if (!watches.some((each) => each.validator === validator && each.to === undefined))
          watches.push({ channelId, validator, traffic: false, from: clock.now, ...settings });
  };

  const typedNames = (members: readonly number[]) => members.map((number) => `Node ${number}`).join(", ");
  const typedAfter = (afterMs: number) => (afterMs === 0 ? "automatic" : `${afterMs / MINUTE}m`);
  const isAbout = (group: Group | undefined, members: readonly number[]): boolean =>
    group !== undefined &&
    group.members.length === members.length &&
    members.every((each) => group.members.includes(each));

  /** One of them adds a group, and presses "Submit" twice. */
  const add = async (front: Front, { members, afterMs }: Wanted): Promise<string | undefined> => {
    const typed: Typed = {
      channel: [channelId],
      subjects: typedNames(members),
      role: [roleId],
      after: typedAfter(afterMs),
    };
    const submit = await front.dialog("setup-add", { feed: "validator" }, olga);
    const outcomes = await Promise.all([submit(typed), submit(typed)].map(outcomeOf));
    const [group] = stored();
    if (outcomes.some((each) => each !== "kept")) return undefined;
    if (!isAbout(group, members) || group?.afterMs !== afterMs || group.roleId !== roleId)
      return `kept ${JSON.stringify(group)}`;
    return undefined;
  };

  /** One of them changes the members and the other one the time, each in a dialog opened before. */
  const change = async (front: Front, before: Group, { members, afterMs, order }: Wanted) => {
    const place = { c: channelId, feed: "validator", id: before.id };
    const [submitMembers, submitTime] = [
      await front.dialog("sub-edit", place, olga),
      await front.dialog("sub-edit", place, mo),
    ];
    const isSame = isAbout(before, members);
    const mine = () => outcomeOf(submitMembers({ subjects: typedNames(members) }));
    const theirs = () => outcomeOf(submitTime({ after: typedAfter(afterMs) }));
    const byOrder = {
      members: async () => [await mine(), await theirs()],
      settings: async () => [await theirs(), await mine()].toReversed(),
      "members, settings": () => Promise.all([mine(), theirs()]),
      "settings, members": async () => (await Promise.all([theirs(), mine()])).toReversed(),
    };
    const outcomes: readonly Outcome[] = await byOrder[order]();
    const [byMembers, byTime] = outcomes;
    const [group] = stored();
    if (outcomes.includes("unsure")) return undefined;
    const isTimeKept = byTime === "kept";
    const mayBeGone = order !== "settings" && !isSame;
    if (byMembers !== "kept" || (!isTimeKept && !mayBeGone)) return `told them ${outcomes.join(" and ")}`;
    const expectedMs = isTimeKept ? afterMs : before.afterMs;
    return isAbout(group, members) && group?.afterMs === expectedMs
      ? undefined
      : `kept ${JSON.stringify(group)}`;
  };

  /** Both of them remove the group. */
  const remove = async (front: Front, { id }: Group) => {
    const to = { c: channelId, feed: "validator", id, to: "remove" };
    const outcomes = await Promise.all([olga, mo].map((each) => outcomeOf(front.press("sub-set", to, each))));
    const isDone = outcomes.every((each) => each !== "unsure");
    return isDone && stored().length > 0 ? "kept it" : undefined;
  };

  return async (moment: DialogMoment): Promise<void> => {
    const front = deps.front();
    if (!front) return;
    const startedAt = clock.now;
    const members = [...new Set(moment.members.map((each) => each % community.watchedCount))];
    const wanted = { ...moment, members };
    const [group] = stored();
    const begin = () => {
      if (!group) return { deed: "added", work: add(front, wanted) };
      if (moment.isRemoval) return { deed: "removed", work: remove(front, group) };
      return { deed: `changed (${moment.order})`, work: change(front, group, wanted) };
    };
    const { deed, work } = begin();
    // A dialog that does not open changes nothing.
    const dead = clock.delay(3 * ANSWER_MS).then(() => undefined);
    const wrong = await Promise.race([work.catch(() => undefined), dead]);
    const time = new Date(startedAt).toISOString();
    const about = `A group ${deed} at ${time}, wanted ${typedNames(members)} after ${typedAfter(moment.afterMs)}`;
    if (wrong !== undefined) onWrong(`${about}: ${wrong}, before ${JSON.stringify(group)}`);
    if (stored().length > 1) onWrong(`${about}: doubled`);
    noteMembers(startedAt);
  };
}
