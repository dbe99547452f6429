import { existsSync } from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import type { BotProcess } from "../bot-process.js";
import type { SandboxDiscord } from "../discord/server.js";

/**
 * Maximum size of a document in the state, in characters. The directory of a small ledger has about ten
 * thousand.
 */
const MAX_DOCUMENT = 200_000;
/**
 * Maximum number of entries in a list of names (the explorer's 51 pages), and maximum characters per entry.
 */
const MAX_ENTRIES = 5_100;
const MAX_ENTRY = 1_000;
/** Maximum number of watches per person, and of subscriptions per channel and feed. */
const MAX_WATCHES = 20;
const MAX_PER_CHANNEL = 25;

/** Matches errors of commands that took longer than the bot waits when it stops. */
const STOPPED = /Expected token to be set for this request/;
/** Matches log lines of unexpected errors. */
const FAULTS =
  /Unexpected error|could not be answered|Uncaught error|[Uu]nhandled|A background job failed|could not be drawn/;
const SET_ASIDE = /cannot be read; it was set aside/;
/** Discord's error code for a thread that is archived already. */
const THREAD_ARCHIVED = 50_083;
/** Answer if the explorer refuses the key. It never does here, even if it withholds an endpoint or two. */
const KEY_REFUSED = /isn't accepting this bot's key/;

interface StoredDocument {
  readonly collection: string;
  readonly id: string;
  readonly document: string;
}

/** Returns all documents of a stopped bot. */
function readDocuments(dataDir: string): readonly StoredDocument[] {
  const file = join(dataDir, "crier.db");
  if (!existsSync(file)) return [];
  const db = new Database(file);
  const rows = db.prepare("SELECT collection, id, document FROM documents").all() as StoredDocument[];
  db.close();
  return rows;
}

/** True if a document is only large because of its number of entries. */
function isListOfNames(document: string): boolean {
  const { entries } = JSON.parse(document) as { entries: object[] };
  return entries.length <= MAX_ENTRIES && entries.every((each) => JSON.stringify(each).length <= MAX_ENTRY);
}

/** Returns the limits that subscriptions exceed. */
function exceededLimits(documents: readonly StoredDocument[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { collection, document } of documents) {
    if (collection !== "subscriptions") continue;
    const { userId, channelId, feed } = JSON.parse(document) as Record<string, unknown>;
    const owner = typeof userId === "string" ? `person ${userId}` : `channel ${channelId} and ${feed}`;
    counts.set(owner, (counts.get(owner) ?? 0) + 1);
  }
  return [...counts].flatMap(([owner, count]) =>
    count > (owner.startsWith("person") ? MAX_WATCHES : MAX_PER_CHANNEL)
      ? [`${count} subscriptions of the ${owner}`]
      : [],
  );
}

function largeDocuments(documents: readonly StoredDocument[]): readonly string[] {
  return documents
    .filter(
      ({ collection, document }) =>
        document.length > MAX_DOCUMENT && (collection !== "directory" || !isListOfNames(document)),
    )
    .map(
      ({ collection, id, document }) =>
        `The state keeps something large: ${collection}/${id.slice(0, 200)}, ${document.length} characters`,
    );
}

/** Returns problems of the state of a stopped bot: exceeded limits, and documents that are too large. */
export function problemsInState(dataDir: string): readonly string[] {
  const documents = readDocuments(dataDir);
  return [...largeDocuments(documents), ...exceededLimits(documents)];
}

/** Returns Discord's refusals, and the first message that blames the explorer's key. */
export function refusedBy({ world }: SandboxDiscord): readonly string[] {
  // After a lost answer, the bot archives a thread again.
  const refusals = world.refusals.filter(
    ({ status, body }) => status < 500 && !("code" in body && body.code === THREAD_ARCHIVED),
  );
  const lines = refusals.map((each) => `Discord refused ${JSON.stringify(each).slice(0, 400)}`);
  const blamed = [...world.messages.values()].flat().find(({ content }) => KEY_REFUSED.test(content));
  return blamed ? [...lines, `It blamed the key: ${blamed.content}`] : lines;
}

/**
 * Returns the log lines of unexpected errors.
 * @param isHostile true if the imported state had corrupted documents
 */
export function loggedFaults(bot: BotProcess, isHostile: boolean): readonly string[] {
  const lines = bot.output().split("\n");
  const isFault = (line: string) =>
    (FAULTS.test(line) && !STOPPED.test(line)) || (!isHostile && SET_ASIDE.test(line));
  // AbortError means that the sandbox did not accept an answer within 15 s.
  return lines
    .filter((line) => isFault(line) && !line.includes('"type":"AbortError"'))
    .map((line) => `It logged ${line.slice(0, 700)}`);
}
