/**
 * Makes something of each object once, for as long as the object is kept: a cached answer is shown again and again, and forty
 * people may ask for the same at once. What is made must follow from the object alone.
 */
export function perObject<From extends object, Made>(make: (from: From) => Made): (from: From) => Made {
  const knownObjects = new WeakMap<From, { readonly made: Made }>();
  return (from) => {
    const heldResult = knownObjects.get(from) ?? { made: make(from) };
    knownObjects.set(from, heldResult);
    return heldResult.made;
  };
}
