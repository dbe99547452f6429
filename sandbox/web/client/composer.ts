import { html, nothing, type TemplateResult } from "lit";
import { keyed } from "lit/directives/keyed.js";
import { live } from "lit/directives/live.js";
import type { Option } from "../../discord/driver.js";
import type { Deed, Given, Outcome, ShownCommand, Snapshot } from "../snapshot.js";
import { choicesOf, type Filled, TYPE, typedCommand } from "./typed-command.js";

interface Choice {
  readonly name: string;
  readonly value: string | number;
}

/** Unsent input. */
interface Draft {
  text: string;
  command: ShownCommand | undefined;
  filled: Record<string, Filled>;
  /** Name of the option that is being completed, and its choices. */
  focused: string | undefined;
  offered: readonly Choice[];
  /** True while the choices for the current text are loading. */
  loading: boolean;
  /** True if the first choice is taken once it arrives, because Enter was pressed meanwhile. */
  takesFirst: boolean;
  /** Index of the highlighted choice. */
  active: number;
  closed: boolean;
}

interface Parts {
  readonly update: () => void;
  readonly act: (deed: Deed) => Promise<Outcome>;
}

/** Pause after a keystroke until choices are asked for, in ms. */
const TYPING_MS = 60;

const empty = (): Draft => ({
  text: "",
  command: undefined,
  filled: {},
  focused: undefined,
  offered: [],
  loading: false,
  takesFirst: false,
  active: 0,
  closed: false,
});

/** Scrolls the highlighted choice into view. */
const show = (id: string) =>
  requestAnimationFrame(() => document.getElementById(id)?.scrollIntoView({ block: "nearest" }));

/** Creates the message box, for text or a slash command with its options. */
export function createComposer({ update, act }: Parts) {
  let draft = empty();
  let latest = 0;

  const change = (more: Partial<Draft>) => {
    draft = { ...draft, ...more };
    update();
  };
  const given = (filled = draft.filled): Given =>
    Object.fromEntries(
      Object.entries(filled)
        .filter(([, { value }]) => value !== "")
        .map(([name, { value }]) => [name, value]),
    );
  const focusSoon = (selector: string) =>
    requestAnimationFrame(() => document.querySelector<HTMLElement>(selector)?.focus());

  const start = (command: ShownCommand, filled: Draft["filled"] = {}) => {
    change({ ...empty(), command: { ...command }, filled });
    focusSoon(".composer .option input, .composer .option select, .composer [type=submit]");
  };
  const reset = () => {
    change(empty());
    focusSoon(".composer .say");
  };
  const fill = (name: string, text: string, value: Filled["value"] = text) =>
    change({ filled: { ...draft.filled, [name]: { text, value } } });

  const complete = async (option: Option, text: string) => {
    fill(option.name, text);
    const mine = ++latest;
    change({ focused: option.name, offered: [], loading: true, takesFirst: false });
    // While somebody types, only the last text is worth a question.
    await new Promise((resolve) => setTimeout(resolve, TYPING_MS));
    if (mine !== latest) return;
    const all = { ...given(), [option.name]: text };
    const outcome = await act({
      do: "complete",
      command: draft.command?.name ?? "",
      given: all,
      focused: option.name,
    });
    // The answer to a later keystroke may have arrived before.
    if (mine !== latest) return;
    const [first] = outcome.choices ?? [];
    const { takesFirst } = draft;
    change({ offered: outcome.choices ?? [], loading: false, takesFirst: false, active: 0 });
    if (takesFirst && first) take(option, first);
  };
  const take = (option: Option, { name, value }: Choice) => {
    latest += 1;
    change({ focused: undefined, offered: [], loading: false });
    fill(option.name, name, value);
  };

  const send = async (event: Event) => {
    event.preventDefault();
    const { command } = draft;
    if (!command) return;
    const deed: Deed = { do: "command", command: command.name, given: given() };
    reset();
    await act(deed);
  };

  /** Handles keys in a list: move, select or close. */
  const onListKey = (
    event: KeyboardEvent,
    list: string,
    length: number,
    takeAt: (at: number) => void,
    leave: () => void,
  ) => {
    if (length === 0) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      change({ active: (draft.active + (event.key === "ArrowDown" ? 1 : length - 1)) % length });
      show(`${list}-${draft.active}`);
    } else if (event.key === "Enter" || event.key === "Tab") takeAt(draft.active);
    else if (event.key === "Escape") leave();
    else return;
    event.preventDefault();
  };

  const listbox = (
    id: string,
    label: string,
    rows: readonly TemplateResult[],
    takeAt: (at: number) => void,
  ) =>
    html`<ul class="offers" id=${id} role="listbox" aria-label=${label} tabindex="-1">
      ${rows.map(
        (row, at) => html`<li
          id=${`${id}-${at}`}
          role="option"
          aria-selected=${at === draft.active}
          @mousedown=${(event: Event) => {
            event.preventDefault();
            takeAt(at);
          }}
        >
          ${row}
        </li>`,
      )}
    </ul>`;

  const textField = (option: Option) => {
    const { name, autocomplete = false, required = false } = option;
    const open = draft.focused === name && draft.offered.length > 0;
    const list = `offers-${name}`;
    const text = draft.filled[name]?.text ?? "";
    const takeAt = (at: number) => {
      const choice = draft.offered[at];
      if (choice) take(option, choice);
    };
    return html`<input
        id=${`option-${name}`}
        type=${option.type === TYPE.text ? "text" : "number"}
        autocomplete="off"
        min=${option.min_value ?? nothing}
        max=${option.max_value ?? nothing}
        ?required=${required}
        .value=${live(text)}
        role=${autocomplete ? "combobox" : nothing}
        aria-expanded=${autocomplete ? open : nothing}
        aria-controls=${autocomplete ? list : nothing}
        aria-activedescendant=${open ? `${list}-${draft.active}` : nothing}
        aria-busy=${draft.focused === name && draft.loading ? "true" : nothing}
        @focus=${() => autocomplete && text === "" && complete(option, text)}
        @blur=${() => {
          latest += 1;
          change({ focused: undefined, offered: [], loading: false });
        }}
        @input=${(event: InputEvent) => {
          const { value } = event.target as HTMLInputElement;
          if (autocomplete) void complete(option, value);
          else fill(name, value, option.type === TYPE.text || value === "" ? value : Number(value));
        }}
        @keydown=${(event: KeyboardEvent) => {
          if (draft.loading && draft.focused === name && event.key === "Enter") {
            event.preventDefault();
            change({ takesFirst: true });
          } else if (event.key !== "Tab" || text !== "")
            onListKey(event, list, draft.offered.length, takeAt, () =>
              change({ focused: undefined, offered: [] }),
            );
        }}
      />${
        open
          ? listbox(
              list,
              `What ${name} may be`,
              draft.offered.map((choice) => html`${choice.name}`),
              takeAt,
            )
          : nothing
      }`;
  };

  const select = ({ name, required = false }: Option, choices: ReturnType<typeof choicesOf>) =>
    html`<select
      id=${`option-${name}`}
      ?required=${required}
      @change=${(event: Event) => {
        const choice = choices[(event.target as HTMLSelectElement).selectedIndex - 1];
        fill(name, choice?.name ?? "", choice?.value ?? "");
      }}
    >
      <option value="">${required ? "Choose…" : "(not given)"}</option>
      ${choices.map((choice) => html`<option ?selected=${draft.filled[name]?.value === choice.value}>${choice.name}</option>`)}
    </select>`;

  const field = (option: Option, snapshot: Snapshot) => {
    const choices = choicesOf(option, snapshot);
    return choices.length > 0 ? select(option, choices) : textField(option);
  };

  const filling = (command: ShownCommand, snapshot: Snapshot) => html`<form
    class="composer"
    aria-label=${`/${command.name}`}
    @submit=${send}
    @keydown=${(event: KeyboardEvent) => {
      if (event.key === "Escape" && !event.defaultPrevented) reset();
      // A select ignores Enter, while a text field sends the form.
      if (event.key === "Enter" && event.target instanceof HTMLSelectElement) {
        event.preventDefault();
        event.target.form?.requestSubmit();
      }
    }}
  >
    <p class="typed"><strong>/${command.name}</strong> ${command.description}</p>
    <div class="options">
      ${command.options.map(
        (option) => html`<div class="option">
          <label for=${`option-${option.name}`}
            ><strong>${option.name}</strong>${option.required ? " *" : ""} <small>${option.description}</small></label
          >
          ${field(option, snapshot)}
        </div>`,
      )}
    </div>
    <p class="buttons">
      <button type="submit">Send</button>
      <button type="button" class="quiet" @click=${reset}>Cancel</button>
    </p>
  </form>`;

  const saying = (snapshot: Snapshot) => {
    const { commands } = snapshot;
    const isCommand = draft.text.startsWith("/") && !draft.closed;
    const typed = isCommand ? draft.text.slice(1).trimEnd().toLowerCase() : undefined;
    const fitting =
      typed === undefined
        ? []
        : commands
            .filter(({ name }) => name.includes(typed))
            .sort((a, b) => Number(b.name.startsWith(typed)) - Number(a.name.startsWith(typed)));
    const takeAt = (at: number) => {
      const command = fitting[at];
      if (command) start(command);
    };
    const offers =
      fitting.length > 0
        ? listbox(
            "commands",
            "Slash commands",
            fitting.map(
              ({ name, description }) => html`<strong>/${name}</strong> <small>${description}</small>`,
            ),
            takeAt,
          )
        : html`<p class="offers none">
            You have no command of that name here. Some are for those who manage the server, such as Olga.
          </p>`;
    return html`<form
      class="composer"
      aria-label="Message"
      @submit=${async (event: Event) => {
        event.preventDefault();
        const { text } = draft;
        if (!text.trim() || fitting.length > 0) return;
        reset();
        const { error } = await act({ do: "say", text });
        // A message that Discord refuses can be corrected, such as one that is too long.
        if (error !== undefined && draft.text === "") change({ text });
      }}
    >
      ${typed === undefined ? nothing : offers}
      <input
        class="say"
        type="text"
        autocomplete="off"
        placeholder="Message, or / for a command"
        aria-label="Message, or / for a command"
        role="combobox"
        aria-expanded=${fitting.length > 0}
        aria-controls="commands"
        aria-activedescendant=${fitting.length > 0 ? `commands-${draft.active}` : nothing}
        .value=${live(draft.text)}
        @input=${(event: InputEvent) => {
          const { value } = event.target as HTMLInputElement;
          const typedOne = typedCommand(value, snapshot);
          if (typedOne) start(...typedOne);
          else change({ text: value, active: 0, closed: false });
        }}
        @keydown=${(event: KeyboardEvent) =>
          onListKey(event, "commands", fitting.length, takeAt, () => change({ closed: true }))}
      />
    </form>`;
  };

  return {
    /** Starts a command that was clicked, if it exists. */
    /** @returns true if the person has such a command here */
    begin(name: string, { commands }: Snapshot): boolean {
      const command = commands.find((each) => each.name === name);
      if (command) start(command);
      return command !== undefined;
    },
    render(snapshot: Snapshot): TemplateResult {
      const { command } = draft;
      // Another person, or another channel, may not have the command that was begun.
      const isKnown = snapshot.commands.some(({ name }) => name === command?.name);
      // Each command that is begun gets new fields, because a select would keep its choice.
      return command && isKnown ? html`${keyed(command, filling(command, snapshot))}` : saying(snapshot);
    },
  };
}
