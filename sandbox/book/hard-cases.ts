import { type Book, ordinaryValidator } from "./book.js";

/**
 * Writes the chapters with messages in special cases: two networks, long and hostile text, and missing data.
 */
export async function hardCases(book: Book): Promise<void> {
  const { place, chapter, ask, hear, polled } = book;
  const { ledger } = place.explorer;
  const { channels, people } = place.discord;
  const olga = { user: people.owner };

  chapter(
    "Two networks",
    "A bot that serves MainNet and TestNet names the network that is not the default one.",
  );
  await ask("/price", { network: "test" });
  await ask("/network", { network: "test" });
  await ask("/settings network", { network: "test" }, olga);
  await ask("/subscribe newcomers", { channel: channels.general.id, network: "test" }, olga);
  await polled();
  await ask("/subscribe list", {}, olga, "`/subscribe list` with both networks");
  await ask("/help", {}, {}, "`/help` with both networks");

  chapter("Long and hostile text", "Text written by strangers is escaped and shortened, and never pings.");
  const watched = ordinaryValidator(ledger);
  watched.party.name = "**@everyone** [free coins](https://example.org) ‮ `code` ".repeat(4);
  watched.version = "0".repeat(300);
  ledger.openVoteRequest({
    motion: "feature",
    title: `# @everyone ${"a very long title ".repeat(30)}`,
    reason: "Read this. ".repeat(600),
    reasonUrl: "javascript:alert(1)",
  });
  await hear("A vote request with a long title and reason", channels.governance, /everyone/);
  await polled();
  await place.pass(10 * 60_000);
  await ask("/validator show", { validator: watched.party.id, network: "main" });

  chapter("Nothing is known", "The explorer answers with empty rows.");
  place.explorer.mood = (answer) => emptied(answer);
  await place.pass(60 * 60_000);
  for (const [command, given] of [
    ["/price", {}],
    ["/network", {}],
    ["/validator show", { validator: ledger.superValidators[1]?.id ?? "" }],
    ["/party show", { party: ledger.superValidators[1]?.id ?? "" }],
    ["/contract show", { contract: ledger.contracts[1]?.contractId ?? "" }],
    ["/event show", { event: ledger.events[1]?.eventId ?? "" }],
    ["/transfers", {}],
  ] as const)
    await ask(command, { ...given, network: "main" });
  place.explorer.mood = undefined;
}

/** Returns an answer with `null` for each value. Lists keep one row. */
function emptied(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.slice(0, 1).map(emptied);
  if (typeof answer !== "object" || answer === null) return null;
  const entries = Object.entries(answer).map(([key, value]) => [
    key,
    ["totalPages", "totalElements", "number", "size"].includes(key) ? value : emptied(value),
  ]);
  return Object.fromEntries(entries);
}
