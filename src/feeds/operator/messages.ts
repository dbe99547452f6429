import { address } from "../../screens/addresses.js";
import type { View } from "../../screens/view.js";
import { roughly } from "../../text/durations.js";
import { code, type Markdown, md, timestamp, timestampWithAge } from "../../text/markdown.js";
import { cut } from "../../text/plain.js";
import type { Trouble } from "./collections.js";
import type { TroubleKind } from "./troubles.js";

/** Name, meaning and advice of a trouble. */
interface TroubleWords {
  readonly title: string;
  readonly body: Markdown;
}

const WORDS: Readonly<Record<TroubleKind, TroubleWords>> = {
  commands: {
    title: "The commands are not registered",
    body: md`New commands and options do not appear in Discord. Those that it already has keep working.`,
  },
  key: {
    title: "The explorer refuses the key",
    body: md`People get answers from the cache while there are any, and nothing new is announced. Get a new key and set ${code("EXPLORER_API_KEY")}; check ${code("EXPLORER_API_URL")} too, and then ${code("npm run doctor")}.`,
  },
  explorer: {
    title: "The explorer is not answering",
    body: md`It has not answered for more than 15 minutes. People get answers from the cache; announcements and alerts wait, and none is lost. It is tried again by itself.`,
  },
  late: {
    title: "Announcements are late",
    body: md`At least one has waited for more than five minutes. They are tried again by themselves; the log says what Discord answers (${code("A delivery failed")}).`,
  },
  unreadable: {
    title: "Part of the state cannot be read",
    body: md`These documents are set aside, and count as missing. An export (${code("npm run state -- export")}) has them in the collection ${code("unreadable")}; please report it. It is over once they are gone: take that collection out of an export, and import it with ${code("--replace")}.`,
  },
  unforeseen: {
    title: "The explorer answers otherwise than documented",
    body: md`Most of it is read all the same. ${code("npm run doctor -- --endpoints")} says what each difference means for people.`,
  },
};

/** Returns the title of a trouble. */
export const titleOf = ({ kind, endedAt }: Trouble): string =>
  endedAt === undefined ? WORDS[kind].title : `Over: ${WORDS[kind].title}`;

/** Returns the current content of a trouble's message. */
export function troubleView(trouble: Trouble, mark: string): View {
  const { kind, since, endedAt, details } = trouble;
  const isOver = endedAt !== undefined;
  return {
    tone: isOver ? "good" : "warning",
    notification: isOver
      ? md`✅ Over: ${WORDS[kind].title} (for ${roughly(Math.max(0, endedAt - since))})`
      : md`For the operator: ${WORDS[kind].title.charAt(0).toLowerCase()}${WORDS[kind].title.slice(1)}`,
    body: [
      isOver
        ? md`From ${timestamp(since, "f")} to ${timestamp(endedAt, "f")}.`
        : md`Since ${timestampWithAge(since)}.`,
      ...(isOver ? [] : [WORDS[kind].body]),
      ...details.map((line) => md`- ${code(cut(line, 150))}`),
    ],
    links: [{ label: "Ask the explorer", emoji: "🔎", to: address("price", {}), mark }],
    readings: [],
  };
}
