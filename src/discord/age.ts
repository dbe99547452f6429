/** What two clocks may drift apart by, as a part of the time that passes: far more than they do. */
const DRIFT = 0.001;

/**
 * How long ago something happened by Discord's clock, in ms. How far the clocks are apart is learnt from the quickest
 * arrival so far, which counts as none; this machine's may be set meanwhile, since only its steady one is read.
 * @param steady ms that only go up
 */
export function createAge(steady = () => performance.now()): (createdAt: number) => number {
  let quickest = Number.POSITIVE_INFINITY;
  let last = steady();
  return (createdAt) => {
    const at = steady();
    const apart = at - createdAt;
    quickest = Math.min(quickest + (at - last) * DRIFT, apart);
    last = at;
    return apart - quickest;
  };
}
