import type { ChatInputCommandInteraction } from "discord.js";
import type { Markdown } from "../text/markdown.js";
import { PersonError } from "../util/person-error.js";
import type { MessagePayload, Renderer } from "./message.js";

/** Returns the answer to a command that changes something. */
export const say = (
  { renderer }: { readonly renderer: Renderer },
  title: Markdown,
  body: readonly Markdown[],
  tone: "good" | "neutral" = "good",
): MessagePayload => renderer.message({ title, tone, body });

/** Returns the server that a command was typed in. @throws {PersonError} outside of servers */
export function serverOf({ guildId }: Pick<ChatInputCommandInteraction, "guildId">): string {
  if (!guildId) throw new PersonError("This command only works in a server.");
  return guildId;
}
