import { html, nothing, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import type { ActionRow, Attachment, Component, Message } from "../../discord/world.js";
import { type Context, markdown, withoutMarks } from "./markdown.js";
import { menu } from "./menus.js";
import { repaired } from "./repair.js";
import { avatarOf, ELSEWHERE } from "./styles.js";

/** Handlers for a message's actions. */
export interface Handlers extends Context {
  readonly narrow: boolean;
  readonly press: (message: Message, customId: string) => void;
  readonly pick: (message: Message, customId: string, value: string) => void;
  readonly dismiss: (message: Message) => void;
  readonly go: (channel: string) => void;
}

interface Embed {
  readonly title?: string;
  readonly description?: string;
  readonly color?: number;
  readonly fields?: readonly { readonly name: string; readonly value: string; readonly inline?: boolean }[];
  readonly thumbnail?: { readonly url: string };
  readonly image?: { readonly url: string };
}

/** The time of a message, with its date if that is another day. */
function clock(timestamp: string, now: number): string {
  const sentAt = new Date(timestamp);
  const time = sentAt.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  const isToday = sentAt.toDateString() === new Date(now).toDateString();
  return isToday
    ? time
    : `${sentAt.toLocaleDateString("en-GB", { day: "numeric", month: "short" })}, ${time}`;
}

/** Returns the URL of a picture on this machine, or a placeholder for any other. */
const local = (url: string | undefined) => (url === undefined || url.startsWith("/") ? url : ELSEWHERE);

function embed(each: Embed, attachments: readonly Attachment[], at: Handlers): TemplateResult {
  const image = local(each.image?.url);
  const picture = attachments.find(({ url }) => url === each.image?.url);
  let column = 0;
  const fields = (each.fields ?? []).map(({ name, value, inline = false }) => {
    const beside = inline && !at.narrow;
    column = beside ? (column % 3) + 1 : 0;
    return html`<discord-embed-field
      field-title=${withoutMarks(name)}
      ?inline=${beside}
      inline-index=${beside ? column : nothing}
      >${markdown(value, at)}</discord-embed-field
    >`;
  });
  const colour = `#${(each.color ?? 0).toString(16).padStart(6, "0")}`;
  return html`<discord-embed
    slot="embeds"
    color=${colour}
    embed-title=${withoutMarks(each.title ?? "")}
    thumbnail=${local(each.thumbnail?.url) ?? nothing}
    image=${image ?? nothing}
    ${repaired((inside) => inside.querySelector(".discord-embed-image")?.setAttribute("alt", picture?.description ?? ""))}
  >
    ${each.description ? html`<discord-embed-description slot="description">${markdown(each.description, at)}</discord-embed-description>` : nothing}
    ${fields.length > 0 ? html`<discord-embed-fields slot="fields">${fields}</discord-embed-fields>` : nothing}
  </discord-embed>`;
}

const STYLES = ["primary", "primary", "secondary", "success", "destructive"] as const;

function component(each: Component, message: Message, at: Handlers): TemplateResult {
  const { type, custom_id: id = "", label = "", emoji, disabled = false, style = 2, url } = each;
  if (type === 3) return menu(each, (value) => at.pick(message, id, value));
  const words = [emoji?.name, label].filter(Boolean).join(" ");
  return html`<discord-button
    type=${STYLES[style] ?? "secondary"}
    ?disabled=${disabled}
    url=${url ?? nothing}
    data-id=${id}
    @click=${() => !disabled && !url && at.press(message, id)}
    ${repaired((inside) => {
      const button = inside.querySelector("button");
      if (button) button.disabled = disabled;
    })}
    >${words}</discord-button
  >`;
}

const row = ({ components }: ActionRow, message: Message, at: Handlers) => html`<discord-action-row>
  ${components.map((each) => component(each, message, at))}
</discord-action-row>`;

/** Returns the attachments that no embed shows. */
function files({ attachments, embeds }: Message) {
  const shown = JSON.stringify(embeds);
  const rest = attachments.filter(({ url }) => !shown.includes(url));
  if (rest.length === 0) return nothing;
  return html`<discord-attachments slot="attachments">
    ${rest.map(
      ({ filename, size, url }) => html`<a class="file" href=${url} target="_blank" rel="noopener">
        <span aria-hidden="true">📄</span> <span>${filename}</span>
        <small>${Math.max(1, Math.round(size / 1024))} KB</small>
      </a>`,
    )}
  </discord-attachments>`;
}

interface Metadata {
  readonly user?: { readonly global_name: string | null; readonly username: string };
  readonly name?: string;
}

/** Renders the command or the message that a message answers. */
function before(message: Message, all: readonly Message[]) {
  const { user, name } = (message.interaction_metadata ?? {}) as Metadata;
  const who = user?.global_name ?? user?.username ?? "";
  if (name)
    return html`<discord-command slot="reply" author=${who} avatar=${avatarOf(who)} command=${name}></discord-command>`;
  const reference = (message.message_reference ?? {}) as { message_id?: string };
  if (!reference.message_id) return nothing;
  const answered = all.find(({ id }) => id === reference.message_id);
  const title = (answered?.embeds[0] as Embed | undefined)?.title ?? answered?.content ?? "";
  const withoutPings = title.replace(/^(?:<@&?\d+> ?)+/, "");
  return html`<discord-reply slot="reply" author="Crier" avatar=${avatarOf("Crier")} ?deleted=${!answered}
    >${withoutMarks(withoutPings)}</discord-reply
  >`;
}

function one(message: Message, all: readonly Message[], at: Handlers): TemplateResult {
  const name = message.author.global_name ?? message.author.username;
  const { thread } = message;
  return html`<discord-message
    data-id=${message.id}
    author=${name}
    avatar=${avatarOf(name)}
    timestamp=${clock(message.timestamp, at.now)}
    twenty-four
    ?bot=${message.author.bot}
    ?edited=${message.edited_timestamp !== null}
    ?ephemeral=${message.visibleTo !== undefined}
    ?highlight=${message.pings.length > 0}
    .dismissMessageClicked=${() => at.dismiss(message)}
    ${repaired((inside) => inside.querySelector(".discord-message-ephemeral-link")?.setAttribute("tabindex", "0"))}
  >
    ${before(message, all)}${message.content ? markdown(message.content, at) : nothing}
    ${message.pings.length > 0 ? html`<div class="pings">🔔 This would notify ${message.pings.join(", ")}</div>` : nothing}
    ${(message.embeds as Embed[]).map((each) => embed(each, message.attachments, at))} ${files(message)}
    ${
      message.components.length > 0
        ? html`<discord-attachments slot="components">
            ${message.components.map((each) => row(each, message, at))}
          </discord-attachments>`
        : nothing
    }
    ${
      thread
        ? html`<discord-thread
            slot="thread"
            name=${thread.name}
            cta="Open thread"
            role="link"
            tabindex="0"
            @click=${() => at.go(thread.id)}
            @keydown=${(event: KeyboardEvent) => event.key === "Enter" && at.go(thread.id)}
            >Messages go on there.</discord-thread
          >`
        : nothing
    }
  </discord-message>`;
}

/** Renders messages, oldest first. Each keeps its element, so that an open menu stays open. */
export const messages = (all: readonly Message[], at: Handlers): unknown =>
  repeat(
    all,
    ({ id }) => id,
    (message) => one(message, all, at),
  );
