/** A condition that is reported once when it begins and once when it ends, no matter how often it is noted. */
export interface Notice<Detail> {
  begins(detail: Detail): void;
  ends(): void;
}

/** Creates a notice for a condition that does not apply yet. */
export function createNotice<Detail = void>(
  onBegin: (detail: Detail) => void,
  onEnd: () => void,
): Notice<Detail> {
  let isHolding = false;
  return {
    begins(detail) {
      if (isHolding) return;
      isHolding = true;
      onBegin(detail);
    },
    ends() {
      if (!isHolding) return;
      isHolding = false;
      onEnd();
    },
  };
}
