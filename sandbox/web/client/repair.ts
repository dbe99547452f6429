import { ref } from "lit/directives/ref.js";

/** Changes what a component has rendered, each time it has. */
export const mended = (mend: (inside: ShadowRoot) => void) =>
  ref((element) => {
    const component = element as (HTMLElement & { updateComplete?: Promise<unknown> }) | undefined;
    void component?.updateComplete?.then(() => component.shadowRoot && mend(component.shadowRoot));
  });
