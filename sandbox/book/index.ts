import { asking } from "./asking.js";
import { writeBook } from "./book.js";
import { hardCases } from "./hard-cases.js";
import { rarely } from "./rarely.js";
import { appendixTo } from "./sentences.js";
import { settingUp } from "./setting-up.js";
import { telling } from "./telling.js";
import { upgrading } from "./upgrading.js";

const HEAD = `# What the bot says

Every kind of message, written by \`npm run messages\` from the real bot on the sandbox. Markdown is left out. Buttons are in
brackets, and the choices of a menu follow ▾. Times are in UTC. Each part begins on Monday, 5 October 2026.
`;

/** Returns the text of docs/messages.md. Its parts run concurrently, each on a separate sandbox. */
export async function messagesBook(): Promise<string> {
  const parts = await Promise.all([
    writeBook([asking, settingUp, telling]),
    writeBook([upgrading]),
    writeBook([rarely]),
    writeBook([hardCases], true),
  ]);
  const played = `${HEAD}\n${parts.join("\n")}`;
  return `${played}\n${appendixTo(played)}`;
}
