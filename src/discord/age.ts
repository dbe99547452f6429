/** What two clocks may drift apart by, as a part of the time that passes: far more than they do. */
const DRIFT = 0.001;
/** Arrivals that are remembered. */
const MAX_ARRIVALS = 30;
/** The third quickest counts as none at all: two that Discord dated ahead make nobody else late. */
const REFERENCE = 2;

/**
 * How long ago something happened by Discord's clock, in ms. How far the clocks are apart is learnt from the quickest of the
 * last arrivals; this machine's may be set meanwhile, since only its steady one is read. Before there are enough of them,
 * nothing is late.
 * @param steady ms that only go up
 */
export function createAge(steady = () => performance.now()): (createdAt: number) => number {
  const arrivals: { readonly at: number; readonly apart: number }[] = [];
  return (createdAt) => {
    const at = steady();
    const apart = at - createdAt;
    arrivals.push({ at, apart });
    if (arrivals.length > MAX_ARRIVALS) arrivals.shift();
    const quickest = arrivals
      .map((each) => each.apart + (at - each.at) * DRIFT)
      .sort((a, b) => a - b)
      .at(Math.min(REFERENCE, arrivals.length));
    return quickest === undefined ? 0 : Math.max(0, apart - quickest);
  };
}
