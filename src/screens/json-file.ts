import { LRUCache } from "lru-cache";
import { yieldFor } from "../util/event-loop.js";
import { MINUTE } from "../util/units.js";
import type { Attachment } from "./view.js";

/** Files larger than this are not attached, in bytes (Discord: 10 MiB, and a message may have several files). */
const MAX_BYTES = 8 * 1024 * 1024;
/** Maximum size of indented JSON, in characters. Larger JSON stays compact. */
const MAX_INDENTED = 2 * 1024 * 1024;
const INDENT = 2;

interface Made {
  readonly name: string;
  /** Undefined if it is too large or too deep. */
  readonly content: Promise<Buffer | undefined>;
}

/** Cache of recent files, so that a file is created only once if many people request it at the same time. */
const madeFiles = new LRUCache<object, Made>({ max: 16, ttl: MINUTE, ttlAutopurge: true });

/**
 * Returns a JSON value as a file, indented if that does not make it too large; `undefined` if it is too large or too deep.
 * Numbers that do not fit a float are strings.
 * @param source cache key: an object that stays the same between requests
 */
export async function jsonFile(
  title: string,
  value: object,
  source = value,
): Promise<Attachment | undefined> {
  const name = `${title.replace(/[^\w-]+/g, "_").slice(0, 80)}.json`;
  const heldFile = madeFiles.get(source);
  const making = heldFile?.name === name ? heldFile.content : contentOf(value);
  madeFiles.set(source, { name, content: making });
  const fileContent = await making;
  return fileContent && { name, content: fileContent };
}

/** Writes long JSON in several turns of the event loop. */
async function contentOf(value: object): Promise<Buffer | undefined> {
  const compact = toCompact(value);
  if (compact === undefined || compact.length > MAX_BYTES) return undefined;
  await yieldFor(compact.length);
  const isLarge = indentedLength(compact) > MAX_INDENTED;
  await yieldFor(compact.length);
  const text = isLarge ? compact : JSON.stringify(value, null, INDENT);
  await yieldFor(text.length);
  const fileContent = Buffer.from(`${text}\n`);
  return fileContent.length > MAX_BYTES ? undefined : fileContent;
}

/** Returns compact JSON, or `undefined` if the value is nested too deeply. */
function toCompact(value: object): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const [QUOTE, BACKSLASH, COMMA] = [34, 92, 44];
const OPENING: ReadonlySet<number> = new Set([91, 123]);
const CLOSING: ReadonlySet<number> = new Set([93, 125]);

/** Returns the length of compact JSON after indenting, without indenting it. */
function indentedLength(compact: string): number {
  let length = compact.length;
  let depth = 0;
  let inText = false;
  for (let at = 0; at < compact.length && length <= MAX_INDENTED; at += 1) {
    const code = compact.charCodeAt(at);
    if (inText && code === BACKSLASH) at += 1;
    else if (code === QUOTE) inText = !inText;
    else if (!inText) {
      if (OPENING.has(code)) depth += 1;
      if (CLOSING.has(code)) depth -= 1;
      if (code === COMMA || OPENING.has(code) || CLOSING.has(code)) length += 1 + depth * INDENT;
    }
  }
  return length;
}
