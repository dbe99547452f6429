import { LRUCache } from "lru-cache";
import { MINUTE } from "../util/units.js";
import type { Attachment } from "./view.js";

/** Files larger than this are not attached, in bytes (Discord: 10 MiB, and its answer has others). */
const MAX_BYTES = 8 * 1024 * 1024;
/** What is nested deeper is not written: JSON.stringify would run out of stack. */
const MAX_DEPTH = 500;

/** How deep a value is nested, up to a limit. It takes no stack: a stranger wrote the value. */
function depthOf(value: unknown, most: number): number {
  let level: unknown[] = [value];
  for (let depth = 0; depth < most; depth += 1) {
    level = level.flatMap((each) => (typeof each === "object" && each !== null ? Object.values(each) : []));
    if (level.length === 0) return depth;
  }
  return most;
}

interface Made {
  readonly name: string;
  /** Undefined where it is too large or too deep. */
  readonly content: Buffer | undefined;
}

/** Files of late by the values they were made of: of forty who ask for the same, one has it made. */
const made = new LRUCache<object, Made>({
  maxSize: 4 * MAX_BYTES,
  sizeCalculation: ({ content }) => 1 + (content?.length ?? 0),
  ttl: MINUTE,
});

/**
 * A JSON value as a file, indented where that does not make it too large; undefined where it is too large or too deep.
 * Numbers that a float cannot hold stand in it as text.
 * @param source what the value is a part of, where that is what stays the same from one to the next who asks
 */
export function jsonFile(title: string, value: object, source = value): Attachment | undefined {
  const name = `${title.replace(/[^\w-]+/g, "_").slice(0, 80)}.json`;
  const held = made.get(source);
  const content = held?.name === name ? held.content : contentOf(value);
  made.set(source, { name, content });
  return content && { name, content };
}

function contentOf(value: object): Buffer | undefined {
  const depth = depthOf(value, MAX_DEPTH);
  if (depth === MAX_DEPTH) return undefined;
  const compact = JSON.stringify(value);
  // Each comma and bracket may become a line with two spaces a level. What is measured first is never too large to make.
  const text = compact.length * (2 * depth + 2) > MAX_BYTES ? compact : JSON.stringify(value, null, 2);
  const content = Buffer.from(`${text}\n`);
  return content.length > MAX_BYTES ? undefined : content;
}
