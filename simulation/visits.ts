import type { Ledger } from "../sandbox/explorer/ledger.js";
import type { Random } from "../sandbox/explorer/random.js";
import type { Subscription } from "../src/delivery/collections.js";
import { address, type ScreenAddress } from "../src/screens/addresses.js";
import { HOUR, MINUTE } from "../src/util/units.js";
import type { VirtualClock } from "./clock.js";
import type { Community } from "./community.js";
import type { Front } from "./front.js";
import type { History } from "./history/index.js";
import type { Visit } from "./oracle/evidence.js";

interface VisitsDeps {
  readonly clock: VirtualClock;
  readonly ledger: Ledger;
  readonly history: Pick<History, "oddityOf" | "startAt">;
  readonly community: Community;
  readonly random: Random;
  readonly front: () => Front | undefined;
}

/** A screen to open, and what it is about. */
type Target = readonly [about: string, to: ScreenAddress];

/** Kinds of vote requests that a list can be limited to. */
const KINDS = ["apps", "configuration", "other"] as const;

/** Creates a member who opens screens, lists and suggestions, and the list of everything that the member was shown. */
export function createVisits({ clock, ledger, history, community, random, front: anyFront }: VisitsDeps) {
  const visits: Visit[] = [];

  /** Notes what is shown. Without an answer there is nothing to note, because the explorer sometimes fails. */
  const look = async (screen: Visit["screen"], about: string, show: () => Promise<string>): Promise<void> => {
    const from = clock.now;
    const open = ledger.voteRequests.filter(({ status }) => status === "In Progress").length;
    const text = await show().catch(() => undefined);
    if (text !== undefined) visits.push({ from, to: clock.now, screen, about, text, open });
  };

  /** Returns the screens of one visit: those about what changes most, and one of each other kind. */
  const targets = (): readonly Target[] => {
    const openRequests = ledger.voteRequests.filter(({ title }) => title?.startsWith("Motion "));
    const request = random.pick(openRequests.length > 0 ? openRequests : ledger.voteRequests);
    const all = ledger.validators;
    // Often one of those about which the explorer says something wrong.
    const odd = all.filter(({ party }) => history.oddityOf(party.name ?? "", clock.now) !== undefined);
    const { party } = random.pick(odd.length > 0 && random.chance(0.4) ? odd : all);
    const kind = random.pick(KINDS);
    const title = request.title ?? "";
    const id = request.firstContractId;
    return [
      [title, address("voteRequest", { id })],
      [title, address("votes", { id })],
      ["", address("proposals", {})],
      [kind, address("proposals", { kind })],
      ["", address("price", {})],
      ["", address("network", {})],
      [party.name ?? "", address("validator", { id: party.id })],
      ["", random.pick([address("validators", {}), address("overview", {}), address("newcomers", {})])],
      ["", random.pick([address("versions", {}), address("voters", {})])],
    ];
  };

  /** Picks a subscription to look at. A young bot knows least about a move of the price. */
  const subscriptionOf = (all: readonly Subscription[]): Subscription => {
    const isYoung = clock.now < history.startAt + HOUR;
    const feed = random.pick([...new Set(all.map((each) => each.feed))]);
    const fitting = isYoung
      ? all.filter(({ subject }) => subject?.startsWith("moves"))
      : all.filter((each) => each.feed === feed);
    return random.pick(fitting);
  };

  const visit = async (): Promise<void> => {
    const front = anyFront();
    if (!front) return;
    for (const [about, to] of targets()) await look(to.screen, about, () => front.open(to));
    const drilled = await front.drill(subscriptionOf).catch(() => undefined);
    for (const screen of drilled ? (["drill", "standing"] as const) : [])
      await look(screen, drilled?.about ?? "", async () => drilled?.[screen] ?? "");
    const lists = await front
      .lists(community.guildId, community.personId, random.int(1, 6))
      .catch(() => undefined);
    for (const list of lists ? (["subscriptions", "setup", "watches"] as const) : [])
      await look(list, "", async () => lists?.[list] ?? "");
    // Without a text, the suggestions are of the active ones.
    for (const [kind, typed] of [
      ["validator", Math.floor(clock.now / MINUTE) % 2 === 0 ? "" : "Node 1"],
      ["proposal", ""],
    ] as const)
      await look(`${kind} choices`, "", async () => (await front.complete(kind, typed)).join("\n"));
  };
  return { visit, visits };
}
