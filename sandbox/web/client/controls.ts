import { html, nothing, type TemplateResult } from "lit";
import {
  EXPLORER_MOODS,
  type ShownChannel,
  type ShownRequest,
  type Snapshot,
  type Turn,
} from "../snapshot.js";
import { relative } from "./markdown.js";

type DoTurn = (turn: Turn) => void;

const MOOD_WORDS = { well: "answers well", slow: "is slow", failing: "fails", gone: "is gone" } as const;
const OUTCOMES = ["Accepted", "Implemented", "Rejected", "Expired"] as const;

const button = (label: string, onClick: () => void, name = label) =>
  html`<button type="button" aria-label=${name} @click=${onClick}>${label}</button>`;

function openForm({ ledger }: Snapshot, turn: DoTurn): TemplateResult {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.target as HTMLFormElement);
    turn({
      do: "open",
      title: String(form.get("title") ?? ""),
      motion: String(form.get("motion") ?? ""),
      hours: Number(form.get("hours")) || 168,
    });
    (event.target as HTMLFormElement).reset();
  };
  return html`<form @submit=${submit}>
    <label>Title <input name="title" placeholder="(the action's own)" maxlength="300" /></label>
    <label
      >Action
      <select name="motion">
        ${Object.entries(ledger.motions).map(([motion, words]) => html`<option value=${motion}>${words}</option>`)}
      </select></label
    >
    <label>Deadline in hours <input name="hours" type="number" min="1" max="9000" value="168" /></label>
    <button type="submit">Open a vote request</button>
  </form>`;
}

function request(
  { id, title: name, status, yes, no, voteBefore }: ShownRequest,
  now: number,
  turn: DoTurn,
): TemplateResult {
  if (status !== "In Progress") return html`<li><strong>${name}</strong><small>${status}</small></li>`;
  return html`<li>
    <strong>${name}</strong><small>${yes} yes, ${no} no; ends ${relative(voteBefore, now)}</small>
    <span class="buttons"
      >${button("Vote yes", () => turn({ do: "vote", id, accept: true }), `Vote yes on ${name}`)}
      ${button("Vote no", () => turn({ do: "vote", id, accept: false }), `Vote no on ${name}`)}
      <label class="inline"
        >Close as
        <select
          aria-label=${`Close ${name} as`}
          @change=${(event: Event) => {
            const select = event.target as HTMLSelectElement;
            if (select.value) turn({ do: "close", id, status: select.value });
            select.value = "";
          }}
        >
          <option value="">…</option>
          ${OUTCOMES.map((each) => html`<option>${each}</option>`)}
        </select></label
      >
      ${button("A day later", () => turn({ do: "postpone", id }), `A day later: the deadline of ${name}`)}
      ${button("Rename", () => turn({ do: "rename", id }), `Rename ${name}`)}</span
    >
  </li>`;
}

/** Actions for the current channel. */
const thisChannel = ({ id, name, mayWrite }: ShownChannel, turn: DoTurn) => html`<section>
  <h2>This channel</h2>
  <p class="buttons">
    ${button(mayWrite ? "Forbid the bot to write here" : "Let the bot write here", () =>
      turn({ do: "permit", channel: id, on: !mayWrite }),
    )}
    ${button("Delete it", () => turn({ do: "delete-channel", channel: id }), `Delete it: the channel ${name}`)}
  </p>
  ${
    mayWrite
      ? nothing
      : html`<p><small>What the bot cannot send here pauses this channel's subscriptions: <code>/subscribe resume</code> goes on with them.</small></p>`
  }
</section>`;

/** Controls for the world around the bot: the ledger, the clock, the explorer and the bot itself. */
export function controls(
  snapshot: Snapshot,
  channel: ShownChannel | undefined,
  turn: DoTurn,
): TemplateResult {
  const { ledger, bot, now, refusals, events } = snapshot;
  const ahead = Math.round(ledger.offset / 3_600_000);
  const open = ledger.requests.filter(({ status }) => status === "In Progress").slice(0, 5);
  const closed = ledger.requests.filter(({ status }) => status !== "In Progress").slice(0, 3);
  return html`
    ${
      refusals.length > 0
        ? html`<section class="refusals" role="alert">
            <h2>Discord would refuse this</h2>
            ${refusals.map(
              ({ request: sent, status, faults }) => html`<p>
                <code>${sent}</code> (${status})<br />${faults.map((fault) => html`<strong>${fault}</strong><br />`)}
              </p>`,
            )}
            ${button("Clear", () => turn({ do: "forget-refusals" }), "Clear what Discord would refuse")}
          </section>`
        : nothing
    }
    <section>
      <h2>The bot</h2>
      <p>
        Crier is <strong>${bot}</strong>. ${
          bot === "starting"
            ? nothing
            : button(bot === "running" ? "Stop it" : "Start it", () =>
                turn({ do: "bot", run: bot !== "running" }),
              )
        }
      </p>
    </section>
    ${channel && channel.type !== 1 ? thisChannel(channel, turn) : nothing}
    <section>
      <h2>Vote requests</h2>
      <p class="buttons">
        ${button(ledger.moves ? "Nothing happens by itself" : "Let things happen by themselves", () =>
          turn({ do: "moves", on: !ledger.moves }),
        )}
      </p>
      ${openForm(snapshot, turn)}
      <ul>
        ${[...open, ...closed].map((each) => request(each, now, turn))}
      </ul>
    </section>
    <section>
      <h2>The server's calendar</h2>
      ${
        events.length === 0
          ? html`<p>No events: <code>/subscribe governance calendar: True</code> makes them.</p>`
          : html`<ul>
              ${events.map(
                ({ id, name, endsAt }) => html`<li class="across">
                  <span>📅 ${name}, until ${new Date(endsAt).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" })}</span>
                  ${button("Delete", () => turn({ do: "uncalendar", id }), `Delete the event ${name}`)}
                </li>`,
              )}
            </ul>`
      }
    </section>
    <section>
      <h2>Time</h2>
      <p>${new Date(now).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" })}${ahead > 0 ? ` (${ahead} h ahead)` : ""}</p>
      <p class="buttons">
        ${button("1 hour on", () => turn({ do: "pass", hours: 1 }))}
        ${button("6 hours on", () => turn({ do: "pass", hours: 6 }))}
        ${button("1 day on", () => turn({ do: "pass", hours: 24 }))}
        ${button("7 days on", () => turn({ do: "pass", hours: 168 }))}
      </p>
    </section>
    <section>
      <h2>The explorer</h2>
      <select aria-label="How the explorer behaves" @change=${(event: Event) => {
        const mood = EXPLORER_MOODS.find((each) => each === (event.target as HTMLSelectElement).value);
        if (mood) turn({ do: "explorer", mood });
      }}
        >
          ${EXPLORER_MOODS.map((mood) => html`<option value=${mood} ?selected=${mood === ledger.explorer}>${MOOD_WORDS[mood]}</option>`)}
        </select>
    </section>
    <section>
      <h2>The price</h2>
      <p class="buttons">
        <strong>${ledger.price} USD</strong> ${button("+5 %", () => turn({ do: "price", percent: 5 }), "Raise the price by 5 %")}
        ${button("+25 %", () => turn({ do: "price", percent: 25 }), "Raise the price by 25 %")}
        ${button("−5 %", () => turn({ do: "price", percent: -5 }), "Lower the price by 5 %")}
      </p>
    </section>
    <section>
      <h2>Validators</h2>
      <p>An alert comes after two missed reports: press <strong>Take down</strong>, then <strong>1 hour on</strong> until it does.</p>
      <p class="buttons">
        ${button(ledger.reports ? "All go silent" : "All report again", () => turn({ do: "reports", on: !ledger.reports }))}
        ${button("A new version spreads", () => turn({ do: "version" }))}
        ${button(ledger.rounds ? "The rounds stand still" : "The rounds advance", () => turn({ do: "rounds", on: !ledger.rounds }))}
      </p>
      <ul>
        ${ledger.validators.map(
          ({ id, name, active }) => html`<li class="across">
            <span>${active ? "🟢" : "🔴"} ${name}</span>
            ${button(active ? "Take down" : "Bring up", () => turn({ do: "validator", id, active: !active }), `${active ? "Take down" : "Bring up"} ${name}`)}
            ${button("Use up traffic", () => turn({ do: "traffic", id }), `Use up traffic of ${name}`)}
          </li>`,
        )}
      </ul>
    </section>
  `;
}
