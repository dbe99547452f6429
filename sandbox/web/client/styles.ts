import { css } from "lit";

/**
 * Additional styles for the components, for contrast and keyboard use. The colors come from the page
 * (page.css).
 */
const ADDED = {
  "discord-message": css`
    :host { padding-right: 16px; }
    .discord-message-timestamp, .discord-message-edited, .discord-message-ephemeral { color: var(--faint) !important; }
    .discord-message-ephemeral-link { color: var(--link) !important; }
    .discord-message-content { min-width: 0; }
  `,
  "discord-embed": css`
    .discord-embed-wrapper { overflow-wrap: anywhere; background-color: var(--side) !important; }
    .discord-embed-root { min-width: 0; }
    .discord-embed-title { color: var(--text) !important; }
    .discord-embed-media { width: min(440px, 58vw); max-width: 100% !important; max-height: none !important; }
    .discord-embed-image { width: 100%; height: auto !important; max-width: 100% !important; max-height: none !important; }
  `,
  "discord-time": css`
    :host { white-space: normal !important; color: inherit !important; background-color: var(--line) !important; }
  `,
  "discord-command": css`
    :host { color: var(--faint) !important; }
    .discord-replied-message-content, .discord-replied-message-content span { color: var(--link) !important; background: none !important; }
    .discord-replied-message-username { color: var(--text) !important; opacity: 1 !important; }
  `,
  "discord-reply": css`
    :host { color: var(--faint) !important; }
    .discord-replied-message-content { color: inherit !important; }
    .discord-replied-message-username { color: var(--text) !important; opacity: 1 !important; }
    .discord-application-tag { background-color: #4752c4 !important; color: #fff !important; }
  `,
  "discord-button": css`
    button:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
    .secondary { background-color: #4e5058; }
  `,
  "discord-modal": css`
    .discord-modal, .discord-modal-box, .discord-modal-root { max-width: calc(100vw - 16px) !important; min-width: 0 !important; box-sizing: border-box; }
    .discord-modal-root { max-height: min(720px, 100dvh - 32px) !important; }
    .discord-modal-slot-input-text { min-height: 0; overflow: hidden auto; }
    .discord-modal-content-container, .discord-modal-slot-input-text { max-width: 100%; box-sizing: border-box; }
  `,
  "discord-string-select-menu": css`
    :host { display: block; }
    .discord-string-select-menu { background-color: var(--deep) !important; color: var(--text) !important; }
    .discord-string-select-menu-option-slot { background-color: var(--side) !important; color: var(--text) !important; }
    .discord-string-select-menu:focus-visible { outline: 3px solid var(--link); }
  `,
  "discord-string-select-menu-option": css`
    :host { display: block; background-color: var(--side) !important; color: var(--text) !important; }
    :host(:focus-visible) { outline: 3px solid var(--link); outline-offset: -3px; }
    .discord-string-select-menu-option-ellipsis-text { line-height: 1.3; }
  `,
  "discord-verified-author-tag": css`
    :host { background-color: #4752c4 !important; color: #fff !important; }
  `,
  "discord-subscript": css`
    :host, small { color: var(--faint) !important; }
  `,
  "discord-quote": css`
    :host { color: var(--text) !important; }
  `,
  "discord-link": css`
    a { color: var(--link) !important; }
  `,
  "discord-code": css`
    code { margin: 0 !important; background-color: var(--deep) !important; color: var(--text) !important; border-color: var(--line) !important; }
  `,
  "discord-pre": css`
    pre { background-color: var(--deep) !important; color: var(--text) !important; border-color: var(--line) !important; white-space: pre-wrap; overflow-wrap: anywhere; }
  `,
  "discord-thread": css`
    .discord-thread-cta { color: var(--link) !important; }
    .discord-thread-bottom, .discord-thread-name { color: var(--text) !important; }
  `,
  "discord-mention": css`
    :host { color: var(--mention) !important; background-color: var(--mention-back) !important; }
  `,
} as const;

/** Adds the styles. Must be called before the first element is created. */
export function addLooks(): void {
  for (const [name, style] of Object.entries(ADDED)) {
    const element = customElements.get(name) as { elementStyles?: unknown[] } | undefined;
    element?.elementStyles?.push(style);
  }
}

const HUES = [262, 200, 150, 20, 330, 90];

/** Returns a round picture with a person's initial, so that no picture is fetched from elsewhere. */
export function avatarOf(name: string): string {
  const hue = HUES[[...name].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % HUES.length] ?? 262;
  const initial = name.charAt(0).replace(/[^\p{L}\d]/u, "?");
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40"><rect width="40" height="40" fill="hsl(${hue} 45% 38%)"/><text x="20" y="27" font-family="sans-serif" font-size="20" fill="#fff" text-anchor="middle">${initial}</text></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

/** Placeholder for a picture from elsewhere, which this page does not fetch. */
export const ELSEWHERE = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 80 80"><rect width="80" height="80" rx="8" fill="#4e5058"/><path d="M16 60l16-22 12 15 8-9 12 16z" fill="#b5bac1"/><circle cx="54" cy="26" r="7" fill="#b5bac1"/></svg>',
)}`;
