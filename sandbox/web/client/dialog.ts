import { html, nothing, type TemplateResult } from "lit";
import { ref } from "lit/directives/ref.js";
import { type Dialog, type DialogLabel, initialValues } from "../../discord/interactions.js";
import type { Snapshot } from "../snapshot.js";
import { avatarOf } from "./styles.js";

interface Modal extends HTMLElement {
  readonly updateComplete: Promise<unknown>;
  originalBodyOverflow?: string;
}

const fieldsOf = (modal: Element): HTMLElement[] => [...modal.querySelectorAll<HTMLElement>(".field")];

/** Returns the values of a dialog's field: of its text, its menu or its checked boxes. */
function valuesOf(field: HTMLElement): string[] {
  const text = field.querySelector<HTMLInputElement>("input[type=text]");
  if (text) return [text.value];
  const menu = field.querySelector("select");
  if (menu) return [...menu.selectedOptions].flatMap(({ value }) => (value === "" ? [] : [value]));
  return [...field.querySelectorAll<HTMLInputElement>("input:checked")].map(({ value }) => value);
}

/** Dialogs that were opened. A render while one closes must not open it again. */
const opened = new WeakSet<Dialog>();

/** Opens a dialog once it is rendered, and moves the focus to its first field. */
async function open(modal: Modal, shown: Dialog): Promise<void> {
  if (opened.has(shown)) return;
  opened.add(shown);
  await modal.updateComplete;
  const dialog = modal.shadowRoot?.querySelector("dialog");
  const box = dialog?.querySelector<HTMLElement>(".discord-modal-box");
  if (!dialog || !box || dialog.open) return;
  modal.originalBodyOverflow = document.body.style.overflow;
  box.style.display = "flex";
  dialog.showModal();
  await new Promise(requestAnimationFrame);
  modal.querySelector<HTMLElement>("input, select")?.focus();
}

/** Handles Enter, because the fields are in another tree than the form. */
function onKey(event: KeyboardEvent): void {
  if (event.key !== "Enter" || !(event.target instanceof HTMLInputElement)) return;
  // The focus returns to the button that opened the dialog, which must not handle the same Enter.
  event.preventDefault();
  const modal = event.currentTarget as HTMLElement;
  modal.shadowRoot?.querySelector<HTMLElement>("[type=submit]")?.click();
}

/** Types of channels that Discord's menus list under their parent channel (threads). */
const isShown = (type: number, types: readonly number[] | undefined): boolean =>
  types === undefined || types.includes(type);

function control({ component }: DialogLabel, id: string, snapshot: Snapshot): TemplateResult {
  const { type, required = true, options = [], channel_types } = component;
  const values = initialValues(component);
  const menu = (choices: readonly { readonly id: string; readonly name: string }[]) => html`<select id=${id}>
    ${required ? nothing : html`<option value="" ?selected=${values.length === 0}>none</option>`}
    ${choices.map((each) => html`<option value=${each.id} ?selected=${values.includes(each.id)}>${each.name}</option>`)}
  </select>`;
  switch (type) {
    case 6:
      return menu(snapshot.roles);
    case 8:
      return menu(snapshot.channels.filter((each) => isShown(each.type, channel_types)));
    case 21:
    case 22:
      return html`${options.map(
        ({ value, label }) => html`<label class="box"
          ><input type=${type === 21 ? "radio" : "checkbox"} name=${id} value=${value} ?checked=${values.includes(value)} />
          ${label}</label
        >`,
      )}`;
    default:
      return html`<input id=${id} type="text" ?required=${required} maxlength=${component.max_length ?? 4_000} value=${values[0] ?? ""} />`;
  }
}

function field(shown: DialogLabel, at: number, snapshot: Snapshot): TemplateResult {
  const id = `dialog-${at}`;
  const hint = shown.description ? html`<small>${shown.description}</small>` : nothing;
  const isGroup = shown.component.type > 20;
  return isGroup
    ? html`<fieldset class="field">
        <legend>${shown.label}</legend>
        ${hint} ${control(shown, id, snapshot)}
      </fieldset>`
    : html`<p class="field">
        <label for=${id}>${shown.label}</label>
        ${hint} ${control(shown, id, snapshot)}
      </p>`;
}

/** Renders a bot's dialog. */
export function dialog(
  shown: Dialog,
  snapshot: Snapshot,
  submit: (values: string[][]) => void,
  close: () => void,
): TemplateResult {
  let modal: Modal | undefined;
  return html`<discord-modal
    modal-id="dialog"
    modal-title=${shown.title}
    author="Crier"
    avatar=${avatarOf("Crier")}
    .submitForm=${() => submit(modal ? fieldsOf(modal).map(valuesOf) : [])}
    .closeForm=${close}
    @keydown=${onKey}
    ${ref((element) => {
      modal = element as Modal | undefined;
      if (modal) void open(modal, shown);
    })}
    >${shown.components.map((each, at) => field(each, at, snapshot))}</discord-modal
  >`;
}
