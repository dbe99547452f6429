import { address } from "../../screens/addresses.js";
import type { View } from "../../screens/view.js";
import { roughly } from "../../text/durations.js";
import { code, type Markdown, md, timestamp, timestampWithAge } from "../../text/markdown.js";
import { cut } from "../../text/plain.js";
import { present } from "../../util/present.js";
import type { Trouble } from "./collections.js";
import type { TroubleKind } from "./troubles.js";

/** Title, explanation and advice for a problem. */
interface TroubleWords {
  readonly title: string;
  readonly body: Markdown;
}

const WORDS: Readonly<Record<TroubleKind, TroubleWords>> = {
  commands: {
    title: "The commands are not registered",
    body: md`New commands and options don't appear in Discord. Existing ones keep working.`,
  },
  key: {
    title: "The explorer rejects the API key",
    body: md`People get cached answers while they last, and nothing new is announced. Get a new key, set it and check the address in the variables below, run ${code("npm run doctor")}, then restart the bot.`,
  },
  explorer: {
    title: "The explorer isn't answering",
    body: md`It hasn't answered for more than 15 minutes. People get cached answers. Announcements and alerts wait, and none are lost. I keep trying; you don't need to restart the bot.`,
  },
  late: {
    title: "Announcements are late",
    body: md`At least one has waited for more than five minutes. I keep trying. To see what Discord answers, look in the log for ${code("A delivery failed")}.`,
  },
  unread: {
    title: "The explorer's answers can't be used",
    body: md`The explorer answers, but I haven't been able to use its data for more than 15 minutes, for example because reports are dated in the future. These feeds announce nothing until it answers properly. I keep trying; you don't need to restart the bot.`,
  },
  unreadable: {
    title: "Part of the state can't be read",
    body: md`These documents were set aside and count as missing. An export (${code("npm run state -- export")}) has them in the collection ${code("unreadable")}, or ${code("NETWORK:unreadable")} for a network that was added later. Please report this. To clear it, stop the bot, delete that collection from a new export, import it with ${code("--replace")}, and start the bot.`,
  },
  unforeseen: {
    title: "The explorer's answers differ from its documentation",
    body: md`Most data can still be read. Run ${code("npm run doctor -- --endpoints")} to see what each difference means for people.`,
  },
};

export const titleOf = ({ kind, endedAt }: Trouble): string =>
  endedAt === undefined ? WORDS[kind].title : `Over: ${WORDS[kind].title}`;

/** Returns the current content of a problem's message. */
export function troubleView(trouble: Trouble, mark: string): View {
  const { kind, since, endedAt, seenAt, details } = trouble;
  // It counts as over a while after it was last seen.
  const lastAt = Math.max(since, Math.min(endedAt ?? seenAt, seenAt));
  const isOver = endedAt !== undefined;
  return {
    tone: isOver ? "good" : "warning",
    notification: isOver
      ? md`✅ Over: “${WORDS[kind].title}” (lasted ${roughly(lastAt - since)})`
      : md`For the operator: ${WORDS[kind].title.charAt(0).toLowerCase()}${WORDS[kind].title.slice(1)}`,
    body: present([
      isOver
        ? md`From ${timestamp(since, "f")} to ${timestamp(lastAt, "f")}.`
        : md`Since ${timestampWithAge(since)}.`,
      !isOver && WORDS[kind].body,
      // The variables belong to the advice.
      ...(isOver && kind === "key" ? [] : details).map((line) => md`- ${code(cut(line, 150))}`),
    ]),
    links: [{ label: "Show the price", emoji: "🔎", to: address("price", {}), mark }],
  };
}
