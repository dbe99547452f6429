import { type Interaction, type REST, RESTEvents } from "discord.js";

/**
 * Creates a function that returns Discord's time in epoch ms, accurate to a second. It uses the Date header of responses, and
 * this machine's clock until the first response. Discord's message ids contain its time, and this machine's clock may be wrong.
 */
export function createDiscordTime(rests: readonly REST[]): () => number {
  let lastDate: { readonly at: number; readonly steady: number } | undefined;
  for (const rest of rests) {
    rest.on(RESTEvents.Response, (_, { headers }) => {
      const answeredAt = Date.parse(headers.get("date") ?? "");
      if (Number.isFinite(answeredAt)) lastDate = { at: answeredAt, steady: performance.now() };
    });
  }
  return () => (lastDate ? lastDate.at + performance.now() - lastDate.steady : Date.now());
}

/** Maximum drift between two clocks, as a fraction of the elapsed time. It is generous. */
const DRIFT = 0.001;
/** Number of recent arrivals to keep. */
const MAX_ARRIVALS = 30;
/** Use the third-smallest offset, so that up to two interactions with a wrong timestamp are ignored. */
const REFERENCE = 2;

/**
 * Creates a function that returns an interaction's age by Discord's clock, in ms. The clock offset is estimated from the fastest
 * recent arrivals. It uses only the steady clock, so that setting the system clock has no effect. Until there are enough
 * arrivals, the age is 0.
 * @param steady monotonic time in ms
 */
export function createAge(steady = () => performance.now()): (createdAt: number) => number {
  const arrivals: { readonly at: number; readonly apart: number }[] = [];
  return (createdAt) => {
    const arrivedAt = steady();
    const offsetMs = arrivedAt - createdAt;
    arrivals.push({ at: arrivedAt, apart: offsetMs });
    if (arrivals.length > MAX_ARRIVALS) arrivals.shift();
    const quickest = arrivals
      .map((each) => each.apart + (arrivedAt - each.at) * DRIFT)
      .sort((a, b) => a - b)
      .at(REFERENCE);
    return quickest === undefined ? 0 : Math.max(0, offsetMs - quickest);
  };
}

/** Creates the ages of interactions, in ms, which do not change if the system clock is set. */
export function createAges() {
  const ageSince = createAge();
  /** When each interaction was made, in ms of this process's steady clock. */
  const madeAt = new WeakMap<Interaction, number>();
  return {
    /** Records an interaction on its arrival, and returns its age. */
    note(interaction: Interaction): number {
      const ageMs = ageSince(interaction.createdTimestamp);
      madeAt.set(interaction, performance.now() - ageMs);
      return ageMs;
    },
    /** Returns the current age of an interaction, 0 if it was not recorded. */
    of(interaction: Interaction): number {
      const now = performance.now();
      return now - (madeAt.get(interaction) ?? now);
    },
  };
}
