import type { Subscription } from "../../delivery/collections.js";
import { idOf } from "../../delivery/subscriptions.js";
import type { State } from "../../storage/state.js";
import { type PriceWatch, priceWatches } from "./collections.js";
import { conditionOf } from "./conditions.js";

/** Returns a subscription's state. `undefined` if it was not judged since it was saved. @throws {StateError} */
async function memoryOf(
  state: Pick<State, "open">,
  subscription: Subscription,
): Promise<PriceWatch | undefined> {
  const memory = await state.open(priceWatches).get(idOf(subscription));
  return memory?.savedAt === subscription.savedAt ? memory : undefined;
}

/** Returns a subscription's last alert. `undefined` if there was none since it was saved. @throws {StateError} */
export const lastAlertOf = async (
  state: Pick<State, "open">,
  subscription: Subscription,
): Promise<PriceWatch["told"]> => (await memoryOf(state, subscription))?.told;

/** True if a subscription gets an alert as soon as a price that is read meets its condition. @throws {StateError} */
export const isArmed = async (state: Pick<State, "open">, subscription: Subscription): Promise<boolean> =>
  (await memoryOf(state, subscription))?.isArmed === true;

/** True if a subscription to one alert has had it, and gets no more. @throws {StateError} */
export const isDone = async (state: Pick<State, "open">, subscription: Subscription): Promise<boolean> =>
  conditionOf(subscription).repeat === "once" && (await lastAlertOf(state, subscription)) !== undefined;
