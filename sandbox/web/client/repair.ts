import { ref } from "lit/directives/ref.js";

/** Changes what a component has rendered, each time it has. */
export const repaired = (repair: (inside: ShadowRoot) => void) =>
  ref((element) => {
    const component = element as (HTMLElement & { updateComplete?: Promise<unknown> }) | undefined;
    void component?.updateComplete?.then(() => component.shadowRoot && repair(component.shadowRoot));
  });
