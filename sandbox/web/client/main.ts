import "@skyra/discord-components-core";
import { html, nothing, render, type TemplateResult } from "lit";
import { keyed } from "lit/directives/keyed.js";
import type { Dialog } from "../../discord/interactions.js";
import type { Message } from "../../discord/world.js";
import type { Deed, Outcome, ShownChannel, Snapshot, Turn } from "../snapshot.js";
import { createComposer } from "./composer.js";
import { controls } from "./controls.js";
import { dialog } from "./dialog.js";
import { follow, keepUp, noteScroll, watchGrowth } from "./following.js";
import { type Handlers, messages } from "./message.js";
import { addLooks } from "./styles.js";

/** State of this page. Everything else comes with each snapshot. */
interface State {
  snapshot: Snapshot | undefined;
  viewer: string;
  channel: string;
  /** Number of messages seen, by channel. */
  seen: Record<string, number>;
  /** Index of the network whose ledger is shown. */
  network: number;
  light: boolean;
  /** True if the server cannot be reached. */
  away: boolean;
  dialog: { readonly shown: Dialog; readonly message: string } | undefined;
  notice: string;
}

/** State that is kept after a reload. */
interface Kept {
  readonly viewer?: string;
  readonly channel?: string;
  readonly light?: boolean;
  /** Number of messages seen, by channel. */
  readonly seen?: Readonly<Record<string, number>>;
}
const KEY = "crier-sandbox";
function kept(): Kept {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "{}") as Kept;
  } catch {
    return {};
  }
}
const keep = () =>
  sessionStorage.setItem(
    KEY,
    JSON.stringify({ viewer: state.viewer, channel: state.channel, light: state.light, seen: state.seen }),
  );

const before = kept();
const state: State = {
  snapshot: undefined,
  viewer: before.viewer ?? "",
  channel: before.channel ?? "",
  seen: { ...before.seen },
  network: 0,
  light: before.light ?? matchMedia("(prefers-color-scheme: light)").matches,
  away: false,
  dialog: undefined,
  notice: "",
};
const phone = matchMedia("(max-width: 700px)");

let waiting = false;
function update(): void {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    draw();
  });
}

const query = () => `as=${state.viewer}&channel=${state.channel}&network=${state.network}`;

async function post(path: string, body: Deed | Turn): Promise<Outcome> {
  try {
    const response = await fetch(`${path}?${query()}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return (await response.json()) as Outcome;
  } catch {
    return { error: "The sandbox is not there any more" };
  }
}

async function act(deed: Deed): Promise<Outcome> {
  // Discord shows one's own messages and the answers to them.
  if (deed.do === "command" || deed.do === "say") follow();
  const outcome = await post("/act", deed);
  if (outcome.dialog && (deed.do === "press" || deed.do === "pick"))
    state.dialog = { shown: outcome.dialog, message: deed.message };
  state.notice = outcome.error ?? "";
  update();
  return outcome;
}

async function turn(wish: Turn): Promise<void> {
  state.notice = (await post("/turn", wish)).error ?? "";
  update();
}

let events: EventSource | undefined;
function listen(): void {
  events?.close();
  events = new EventSource(`/events?${query()}`);
  events.onmessage = ({ data }) => {
    const snapshot = JSON.parse(data) as Snapshot;
    const last = state.snapshot?.messages.at(-1)?.id;
    state.snapshot = snapshot;
    state.away = false;
    const { people, channels } = snapshot;
    // The stored state may be from another sandbox.
    if (!people.some(({ id }) => id === state.viewer))
      state.viewer = people.find(({ name }) => name === "Ana")?.id ?? "";
    if (!channels.some(({ id }) => id === state.channel)) state.channel = channels[0]?.id ?? "";
    noteSeen(snapshot);
    update();
    const isNew = snapshot.messages.at(-1)?.id !== last || snapshot.thinking.length > 0;
    if (isNew) keepUp();
  };
  events.onerror = () => {
    state.away = true;
    update();
  };
}

/** Marks messages on screen as seen. When the page is first opened, only the bot's messages count as new. */
function noteSeen({ channels }: Snapshot): void {
  for (const { id, messages } of channels) if (id === state.channel) state.seen[id] = messages;
  keep();
}

const isUnread = ({ id, messages }: ShownChannel): boolean => messages > (state.seen[id] ?? 0);

function go(more: Partial<Pick<State, "viewer" | "channel" | "network">>): void {
  const snapshot = state.snapshot;
  Object.assign(state, more, { dialog: undefined, notice: "" });
  // Another person has a different direct message channel.
  const kept = snapshot?.channels.find(({ id }) => id === state.channel);
  if (more.viewer && kept?.type === 1) state.channel = "";
  if (snapshot) noteSeen(snapshot);
  listen();
  update();
  follow();
}

const composer = createComposer({ update, act });

const SIGNS: Readonly<Record<number, string>> = { 0: "#", 1: "@", 5: "📢", 11: "↳", 15: "🗂" };

function channelLink(channel: ShownChannel): TemplateResult {
  const { id, type, name, parent_id } = channel;
  const unread = isUnread(channel);
  return html`<li class=${[parent_id ? "nested" : "", unread ? "unread" : ""].join(" ")}>
    <button
      type="button"
      aria-current=${id === state.channel ? "page" : nothing}
      aria-label=${unread ? `${name}, unread` : name}
      @click=${(event: Event) => {
        go({ channel: id });
        // On a phone, the list would keep a third of the screen.
        if (phone.matches) (event.currentTarget as Element).closest("details")?.removeAttribute("open");
      }}
    >
      <span aria-hidden="true">${SIGNS[type] ?? "#"}</span> ${name}
    </button>
  </li>`;
}

/** Sorts threads and posts below the channel that they belong to. */
function sorted(channels: readonly ShownChannel[]): ShownChannel[] {
  const tops = channels.filter(({ parent_id }) => !parent_id);
  return tops.flatMap((top) => [top, ...channels.filter(({ parent_id }) => parent_id === top.id).slice(-8)]);
}

function posts(snapshot: Snapshot): TemplateResult {
  const all = snapshot.channels.filter(({ parent_id }) => parent_id === state.channel);
  return html`<ul class="posts">
    ${
      all.length === 0
        ? html`<li>
            No posts yet. As Olga or Mo, <code>/subscribe governance</code> with this channel brings one for each
            vote request.
          </li>`
        : all.map(
            ({ id, name, messages: count }) => html`<li>
              <button type="button" @click=${() => go({ channel: id })}>${name}</button> <small>${count === 1 ? "1 message" : `${count} messages`}</small>
            </li>`,
          )
    }
  </ul>`;
}

function log(snapshot: Snapshot, channel: ShownChannel | undefined): TemplateResult {
  const handlers: Handlers = {
    now: snapshot.now,
    names: snapshot.names,
    narrow: phone.matches,
    onCommand: (name) => {
      const { name: who } = snapshot.people.find(({ id }) => id === state.viewer) ?? { name: "This person" };
      state.notice = composer.begin(name, snapshot)
        ? ""
        : `${who} may not use /${name} here. Be somebody else, such as Olga, or go to another channel.`;
      update();
    },
    press: (message: Message, customId) => void act({ do: "press", message: message.id, customId }),
    pick: (message, customId, value) => void act({ do: "pick", message: message.id, customId, value }),
    dismiss: (message) => void act({ do: "dismiss", message: message.id }),
    go: (id) => go({ channel: id }),
  };
  return html`<div class="log" role="log" aria-label=${`Messages in ${channel?.name ?? ""}`} tabindex="0"
    @scroll=${noteScroll}>
    ${
      // The components read the theme only when they are created.
      keyed(state.light, shownMessages(snapshot, handlers))
    }
    ${snapshot.thinking.map((name) => html`<p class="thinking">Crier is thinking… <small>(sent by ${name})</small></p>`)}
  </div>`;
}

function shownMessages(snapshot: Snapshot, handlers: Handlers): TemplateResult {
  return html`<discord-messages ?light-theme=${state.light} no-background>
      ${messages(snapshot.messages, handlers)}
      ${
        state.dialog
          ? dialog(
              state.dialog.shown,
              snapshot,
              (values) => {
                const opened = state.dialog;
                state.dialog = undefined;
                if (opened) void act({ do: "submit", message: opened.message, dialog: opened.shown, values });
              },
              () => {
                state.dialog = undefined;
                update();
              },
            )
          : nothing
      }
    </discord-messages>`;
}

function head(snapshot: Snapshot, channel: ShownChannel | undefined): TemplateResult {
  return html`<header>
    <h1><span aria-hidden="true">${SIGNS[channel?.type ?? 0]}</span> ${channel?.name}</h1>
    <label
      ><span class="wide">You are</span>
      <select class="viewer" aria-label="You are" @change=${(event: Event) => go({ viewer: (event.target as HTMLSelectElement).value })}>
        ${snapshot.people.map(
          ({ id, name, role }) =>
            html`<option value=${id} ?selected=${id === state.viewer}>${name} (${role})</option>`,
        )}
      </select></label
    >
    <button
      type="button"
      @click=${() => {
        state.light = !state.light;
        keep();
        update();
      }}
    >
      ${state.light ? "Dark" : "Light"}
    </button>
  </header>`;
}

/** Renders the selection of the network to control, if there are several. */
function networks({ networks: names }: Snapshot): TemplateResult | typeof nothing {
  if (names.length === 0) return nothing;
  return html`<section>
    <h2>The network</h2>
    <select
      aria-label="Whose ledger is shown"
      @change=${(event: Event) => go({ network: (event.target as HTMLSelectElement).selectedIndex })}
    >
      ${names.map((name, index) => html`<option ?selected=${index === state.network}>${name}</option>`)}
    </select>
  </section>`;
}

function page(snapshot: Snapshot): TemplateResult {
  const channel = snapshot.channels.find(({ id }) => id === state.channel);
  const channels = html`<ul>
    ${sorted(snapshot.channels).map(channelLink)}
  </ul>`;
  return html`<div class=${`page ${state.light ? "light" : "dark"}`}>
    <nav aria-label="Channels">
      <details ?open=${!phone.matches}>
        <summary>${snapshot.guild}</summary>
        ${channels}
      </details>
    </nav>
    <main>
      ${head(snapshot, channel)} ${channel?.type === 15 ? posts(snapshot) : log(snapshot, channel)}
      <p class="notice" role="status">
        ${state.away ? "The sandbox is not there; trying again…" : state.notice}
      </p>
      ${channel?.type === 15 ? nothing : composer.render(snapshot)}
    </main>
    <aside aria-label="The world around the bot">
      <details ?open=${!phone.matches}>
        <summary>The world around the bot</summary>
        ${networks(snapshot)} ${controls(snapshot, channel, (wish) => void turn(wish))}
      </details>
    </aside>
  </div>`;
}

function draw(): void {
  const { snapshot } = state;
  render(snapshot ? page(snapshot) : html`<p class="notice">One moment…</p>`, document.body);
  watchGrowth();
}

addLooks();
phone.addEventListener("change", update);
// A browser allows six connections to a server, in all tabs together.
document.addEventListener("visibilitychange", () => {
  if (document.hidden) events?.close();
  else listen();
});
listen();
draw();
