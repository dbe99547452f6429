/**
 * Memoizes a function by its argument, with weak references. A cached answer is shown many times, and several people may request
 * it at once. The result must depend only on the object.
 */
export function perObject<From extends object, Made>(make: (from: From) => Made): (from: From) => Made {
  const knownObjects = new WeakMap<From, { readonly made: Made }>();
  return (from) => {
    const heldResult = knownObjects.get(from);
    if (heldResult) return heldResult.made;
    const made = make(from);
    knownObjects.set(from, { made });
    return made;
  };
}

/** Memoizes a function's last result, which is returned again while all arguments are the same objects. */
export function rememberLast<Arguments extends readonly unknown[], Made>(
  make: (...given: Arguments) => Made,
): (...given: Arguments) => Made {
  let lastResult: { readonly given: Arguments; readonly made: Made } | undefined;
  return (...given) => {
    if (!lastResult?.given.every((each, index) => each === given[index]))
      lastResult = { given, made: make(...given) };
    return lastResult.made;
  };
}
