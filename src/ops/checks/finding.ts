import { DiscordAPIError } from "discord.js";

/** One thing the bot needs, and how it stands. */
export interface Finding {
  readonly what: string;
  /** Undefined where it works, but the operator should know something. */
  readonly ok: boolean | undefined;
  readonly detail: string;
  /** What to do about it. */
  readonly mend?: string;
}

export const fine = (what: string, detail: string): Finding => ({ what, ok: true, detail });
export const notice = (what: string, detail: string, mend: string): Finding => ({
  what,
  ok: undefined,
  detail,
  mend,
});
export const wrong = (what: string, detail: string, mend: string): Finding => ({
  what,
  ok: false,
  detail,
  mend,
});

/** An error in few words, without addresses, which may hold secrets. */
export function wordsOf(error: unknown): string {
  if (error instanceof DiscordAPIError) return `Discord answered ${error.status}: ${error.message}`;
  const code = error instanceof Error && "code" in error ? ` (${String(error.code)})` : "";
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
  return error instanceof Error ? `${error.name}${code}${cause}` : "unknown error";
}
