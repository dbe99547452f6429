import { html, type TemplateResult } from "lit";
import { ref } from "lit/directives/ref.js";
import type { Dialog } from "../../discord/interactions.js";
import { avatarOf } from "./styles.js";

interface Modal extends HTMLElement {
  readonly updateComplete: Promise<unknown>;
  originalBodyOverflow?: string;
}

const inputsOf = (modal: Element): HTMLInputElement[] =>
  [...modal.querySelectorAll("discord-input-text")].flatMap((each) => {
    const input = each.shadowRoot?.querySelector<HTMLInputElement>("input, textarea");
    return input ? [input] : [];
  });

/** Dialogs that were opened. A render while one closes must not open it again. */
const opened = new WeakSet<Dialog>();

/** Opens a dialog once it is rendered, with accessible labels for its fields. */
async function open(modal: Modal, shown: Dialog): Promise<void> {
  if (opened.has(shown)) return;
  opened.add(shown);
  const { components } = shown;
  await modal.updateComplete;
  const dialog = modal.shadowRoot?.querySelector("dialog");
  const box = dialog?.querySelector<HTMLElement>(".discord-modal-box");
  if (!dialog || !box || dialog.open) return;
  modal.originalBodyOverflow = document.body.style.overflow;
  box.style.display = "flex";
  dialog.showModal();
  await new Promise(requestAnimationFrame);
  const inputs = inputsOf(modal);
  for (const [at, input] of inputs.entries()) input.ariaLabel = components[at]?.components[0]?.label ?? "";
  inputs[0]?.focus();
}

/** Handles Enter, because the field is in another shadow tree than the form. */
function onKey(event: KeyboardEvent): void {
  if (event.key !== "Enter" || !(event.composedPath()[0] instanceof HTMLInputElement)) return;
  // The focus returns to the button that opened the dialog, which must not handle the same Enter.
  event.preventDefault();
  const modal = event.currentTarget as HTMLElement;
  modal.shadowRoot?.querySelector<HTMLElement>("[type=submit]")?.click();
}

/** Renders a bot's dialog. */
export function dialog(shown: Dialog, submit: (values: string[]) => void, close: () => void): TemplateResult {
  let modal: Modal | undefined;
  return html`<discord-modal
    modal-id="dialog"
    modal-title=${shown.title}
    author="Crier"
    avatar=${avatarOf("Crier")}
    .submitForm=${() => submit(modal ? inputsOf(modal).map(({ value }) => value) : [])}
    .closeForm=${close}
    @keydown=${onKey}
    ${ref((element) => {
      modal = element as Modal | undefined;
      if (modal) void open(modal, shown);
    })}
    >${shown.components.flatMap(({ components }) =>
      components.map(
        ({ label, value }) =>
          html`<discord-input-text label=${label} type="short" required min-length="1" max-length="4000" value=${value ?? ""}></discord-input-text>`,
      ),
    )}</discord-modal
  >`;
}
