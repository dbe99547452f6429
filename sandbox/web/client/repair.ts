import { ref } from "lit/directives/ref.js";

/** Modifies the rendered content of a component after each render. */
export const repaired = (repair: (inside: ShadowRoot) => void) =>
  ref((element) => {
    const component = element as (HTMLElement & { updateComplete?: Promise<unknown> }) | undefined;
    void component?.updateComplete?.then(() => component.shadowRoot && repair(component.shadowRoot));
  });
