/** A condition that is said once when it begins, and once when it is over, however often it is reported. */
export interface Notice<Detail> {
  begins(detail: Detail): void;
  ends(): void;
}

/** A notice that does not hold yet. */
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
