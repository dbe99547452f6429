import { html, type TemplateResult } from "lit";
import type { Component } from "../../discord/world.js";
import { repaired } from "./repair.js";

const box = (menu: Element) => menu.shadowRoot?.querySelector<HTMLElement>(".discord-string-select-menu");
const list = (menu: Element) => menu.shadowRoot?.querySelector(".discord-string-select-menu-option-slot");
const isOpen = (menu: Element) =>
  list(menu)?.classList.contains("discord-string-select-menu-hidden") === false;

/** Adds the role and the open state of the component for screen readers. */
function name(menu: Element, label: string): void {
  const [shown, options] = [box(menu), list(menu)];
  const says = { role: "combobox", tabindex: "0", "aria-haspopup": "listbox", "aria-label": label };
  for (const [attribute, value] of Object.entries(says)) shown?.setAttribute(attribute, value);
  shown?.setAttribute("aria-expanded", String(isOpen(menu)));
  shown?.querySelector("svg")?.setAttribute("aria-hidden", "true");
  options?.setAttribute("role", "listbox");
  options?.setAttribute("aria-label", label);
  if (isOpen(menu)) options?.scrollIntoView({ block: "nearest" });
}

/** Opens or closes the component through its hidden checkbox. */
const toggle = (menu: Element) => menu.shadowRoot?.querySelector("input")?.click();

/** Adds keyboard support to the component: open, move, choose, close. */
function onKey(event: KeyboardEvent, choose: (value: string) => void): void {
  const menu = event.currentTarget as HTMLElement;
  const options = [...menu.querySelectorAll<HTMLElement>("discord-string-select-menu-option")];
  const at = options.indexOf(document.activeElement as HTMLElement);
  const moves: Readonly<Record<string, number>> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    Home: 0,
    End: options.length - 1,
  };
  if (event.key === "Escape" && isOpen(menu)) {
    toggle(menu);
    box(menu)?.focus();
  } else if (event.key === "Enter" || event.key === " ") {
    const value = options[at]?.dataset.value;
    toggle(menu);
    if (value === undefined) options[0]?.focus();
    else {
      box(menu)?.focus();
      choose(value);
    }
  } else if (event.key in moves) {
    if (!isOpen(menu)) toggle(menu);
    options[Math.min(Math.max(moves[event.key] ?? 0, 0), options.length - 1)]?.focus();
  } else return;
  event.preventDefault();
}

/** Renders a menu that applies its choice at once, like a bot's menus. */
export function menu(
  { placeholder = "", options = [] }: Component,
  choose: (value: string) => void,
): TemplateResult {
  const chosen = options.find((option) => option.default);
  return html`<discord-string-select-menu
    placeholder=${chosen?.label ?? placeholder}
    ${repaired((inside) => name(inside.host, placeholder))}
    @click=${(event: Event) => name(event.currentTarget as Element, placeholder)}
    @keydown=${(event: KeyboardEvent) => onKey(event, choose)}
    >${options.map(
      ({ label, value, description, emoji }) => html`<discord-string-select-menu-option
        role="option"
        tabindex="-1"
        aria-selected=${value === chosen?.value}
        data-value=${value}
        label=${label}
        description=${description ?? ""}
        emoji=${emoji?.name ?? ""}
        .selectOption=${() => choose(value)}
      ></discord-string-select-menu-option>`,
    )}</discord-string-select-menu
  >`;
}
