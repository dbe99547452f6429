import type { Subscription } from "../../delivery/collections.js";
import type { PollSteps, Subscribers } from "../../delivery/module.js";
import { snoozeEnd } from "../../delivery/snoozes.js";
import { idOf } from "../../delivery/subscriptions.js";
import type { Explorer } from "../../explorer/service.js";
import { readSamples } from "../../ledger/price-history.js";
import { medianPrice, type PriceSample } from "../../ledger/prices.js";
import type { State } from "../../storage/state.js";
import type { Write } from "../../storage/store.js";
import { inPieces } from "../../util/event-loop.js";
import { defined } from "../../util/present.js";
import { priceWatches } from "./collections.js";
import { conditionOf } from "./conditions.js";
import type { PriceEvent } from "./events.js";
import { isBelievable, judge } from "./judge.js";

/** Number of subscriptions per commit. Alerting thousands of people in one would block everything else. */
const SUBSCRIPTIONS_PER_STEP = 50;

/** Creates the poll that judges the price for each subscription. @param explorer must not answer from the cache */
export function createPoll(explorer: Explorer, state: State, now: () => number) {
  /** Prices of the last two polls that could read one, oldest first. A subscription may be saved during the second. */
  let lastPrices: readonly PriceSample[] = [];
  return async function* (subscribers: Subscribers): PollSteps {
    const dueSubscriptions: Subscription[] = [];
    for await (const piece of inPieces(await subscribers.subscriptions()))
      for (const each of piece)
        if (each.subject !== null && (await subscribers.isHeard(each))) dueSubscriptions.push(each);
    const memories = await state.open(priceWatches).list();
    const reading = dueSubscriptions.length > 0 ? await explorer.price({}) : undefined;
    const pricedAt = now();
    const samples = await readSamples(state);
    const { price = null, updateTimestamp = null } = reading?.problem ? {} : (reading?.data ?? {});
    const usualPrice = medianPrice(samples, now());
    if (!isBelievable(price, updateTimestamp, usualPrice, now()))
      return dueSubscriptions.length === 0 ? "done" : "partial";
    const believed = samples.filter(([at, usd]) => isBelievable(usd, at, usualPrice, at));
    /** Returns the price that was last read by a time, USD. Without subscriptions, only samples are read. */
    const knownAt = (time: number) => {
      const isKnown = ([at]: PriceSample) => at <= time;
      const [sampledAt = 0, sampled] = believed.findLast(isKnown) ?? [];
      const [polledAt = 0, polled] = lastPrices.findLast(isKnown) ?? [];
      return polledAt > sampledAt ? polled : sampled;
    };
    const previousPrice = knownAt(now());
    for await (const together of inPieces(dueSubscriptions, SUBSCRIPTIONS_PER_STEP)) {
      const events: PriceEvent[] = [];
      const writes: Write[] = [];
      for (const subscription of together) {
        const id = idOf(subscription);
        const { channelId, subject: of, savedAt } = subscription;
        const keptMemory = memories.get(id);
        // A subscription that was saved again starts with empty memory.
        const memory = keptMemory?.savedAt === savedAt ? keptMemory : undefined;
        const isSnoozed = snoozeEnd(subscription, now()) > 0;
        const condition = conditionOf(subscription);
        // Samples since it was saved may have passed the limit before the first poll.
        const earlierPrice = memory || savedAt === undefined ? previousPrice : knownAt(savedAt);
        const judgement = judge(condition, memory, price, believed, earlierPrice, now(), !isSnoozed);
        if (judgement.memory !== memory)
          writes.push(state.open(priceWatches).put(id, { ...judgement.memory, ...defined({ savedAt }) }));
        if (judgement.from !== undefined && of !== null)
          events.push({
            channelId,
            subject: of,
            from: judgement.from,
            to: price,
            at: now(),
            since: judgement.since,
            isLast: condition.repeat === "once" || undefined,
          });
      }
      if (events.length + writes.length > 0) yield { events, writes };
    }
    lastPrices = [...lastPrices.slice(-1), [pricedAt, price]];
    return "done";
  };
}
