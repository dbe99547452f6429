import ky from "ky";
import { createHider } from "../log.js";
import { connectionProblem } from "../util/error-code.js";
import { ExplorerError } from "./errors.js";
import { parseLargeJson } from "./values.js";

/** Maximum size of a body in bytes, after decompression. Parsing this much JSON blocks the event loop for about 50 ms. */
const MAX_BYTES = 2 * 1024 * 1024;

/** Minimum length of a key that is hidden in answers, in characters. A shorter one may be part of any number or name. */
const MIN_KEY = 16;

/** A JSON body, parsed and as text, with its size in bytes. */
export interface Body {
  readonly json: unknown;
  readonly text: string;
  readonly bytes: number;
}

/** Parameters of a query; undefined ones are left out. */
export type Query = Readonly<Record<string, string | number | undefined>>;

/** One GET of a path below `/v1`, without retries. */
export type Get = (path: string, query: Query, signal: AbortSignal) => Promise<Body>;

interface HttpOptions {
  /** Ends in `/v1`. */
  readonly apiUrl: string;
  readonly apiKey: string;
  readonly fetch?: typeof globalThis.fetch;
}

/**
 * Creates the function that sends requests to the explorer. The key is only sent in its header. Redirects are not followed,
 * because they would send the key to another origin. The body's size is limited, and the signal also covers the body.
 * @returns a function that throws ExplorerError
 */
export function createHttp({ apiUrl, apiKey, fetch = globalThis.fetch }: HttpOptions): Get {
  const http = ky.create({
    prefixUrl: apiUrl,
    headers: { "x-api-key": apiKey, accept: "application/json" },
    // With "error", a redirect looks like a failed connection. With "manual", its status is visible and it is not followed.
    redirect: "manual",
    retry: 0,
    timeout: false,
    throwHttpErrors: false,
    fetch,
  });

  // An explorer may repeat the key in its answer, which people and the metrics see.
  const hideKey = createHider([apiKey], MIN_KEY);

  return async (path, query, signal) => {
    try {
      const response = await http.get(path, { signal, searchParams: query });
      // Nobody asked for a part. It must not count as the whole answer.
      if (!response.ok || response.status === PARTIAL) {
        await response.body?.cancel().catch(() => {});
        throw failure(path, response);
      }
      return await readBody(path, response, signal, hideKey);
    } catch (error) {
      if (error instanceof ExplorerError) throw error;
      if (signal.aborted) throw new ExplorerError("slow", `GET /${path}: no complete answer in time`);
      throw new ExplorerError("failing", `GET /${path}: ${connectionProblem(error)}`);
    }
  };
}

/** Statuses of an answer without the whole body. */
const [PARTIAL, NOT_MODIFIED] = [206, 304];
/** Statuses that restrict an endpoint, whatever was asked of it: payment required, forbidden, method not allowed, legal reasons. */
const WITHHELD: ReadonlySet<number> = new Set([402, 403, 405, 451]);

function failure(path: string, response: Response): ExplorerError {
  const { status } = response;
  const message = `GET /${path}: answered ${status}`;
  const retryAfterMs = readRetryAfter(response.headers.get("retry-after"));
  const details = { status, retryAfterMs };
  if (status === 404 || status === 410) return new ExplorerError("missing", message, details);
  if (status === 401) return new ExplorerError("refused", message, details);
  if (WITHHELD.has(status)) return new ExplorerError("withheld", message, details);
  if (status === 429) return new ExplorerError("limited", message, details);
  if (status === 408 || status >= 500) return new ExplorerError("failing", message, details);
  // No conditional request was sent.
  if (status === PARTIAL || status === NOT_MODIFIED) return new ExplorerError("unreadable", message, details);
  if (status < 400)
    return new ExplorerError("refused", `${message}, a redirect, which is not followed`, details);
  return new ExplorerError("rejected", message, details);
}

/** Converts a Retry-After header to ms. It contains seconds or an HTTP date. */
function readRetryAfter(value: string | null): number | undefined {
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value.trim()) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

async function readBody(
  path: string,
  response: Response,
  signal: AbortSignal,
  hideKey: (text: string) => string,
): Promise<Body> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const reader = response.body?.getReader();
  // fetch has only a weak reference to the signal. If the signal is garbage-collected, a stalled body never ends.
  const cancel = () => void reader?.cancel().catch(() => {});
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      bytes += part.value.byteLength;
      if (bytes > MAX_BYTES) {
        cancel();
        throw new ExplorerError("unreadable", `GET /${path}: the answer is over ${MAX_BYTES} bytes`);
      }
      chunks.push(part.value);
    }
  } finally {
    signal.removeEventListener("abort", cancel);
  }
  // A cancelled stream looks like one that has ended.
  signal.throwIfAborted();
  // Drops a byte-order mark, with which JSON.parse fails.
  const text = hideKey(new TextDecoder().decode(Buffer.concat(chunks)));
  try {
    return { json: await parseLargeJson(text), text, bytes };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ExplorerError("unreadable", `GET /${path}: the answer is not JSON (${bytes} bytes)`);
  }
}
