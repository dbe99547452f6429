/**
 * Reason why there is no answer from the explorer:
 * - `missing`: the thing does not exist (404 or 410)
 * - `refused`: it does not accept the key, or the address is wrong (401, a redirect, or only `withheld`)
 * - `withheld`: it restricts this endpoint (402, 403, 405 or 451, or any 4xx but 400 for an endpoint without an id)
 * - `rejected`: it does not accept the request (any other 4xx)
 * - `limited`: it asks for fewer requests (429)
 * - `failing`: it answers 5xx or 408, or the connection fails
 * - `slow`: no complete answer within the deadline
 * - `unreadable`: the answer is not valid: HTML, empty, another shape, or too large
 * - `busy`: the request was not sent in time, because of other requests in the queue
 * - `spent`: the person has used up their requests
 */
export type ExplorerProblem =
  | "missing"
  | "refused"
  | "withheld"
  | "rejected"
  | "limited"
  | "failing"
  | "slow"
  | "unreadable"
  | "busy"
  | "spent";

interface ErrorDetails {
  readonly status?: number;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
  readonly unsent?: boolean;
}

/** Matches the id in a message with a request's path (endpoints.ts). */
const ID =
  /(?<=^GET \/(?:validators|tokens|parties|rewards|governance\/vote-requests|contracts|events|updates)\/)(?!(?:new|top|votes):)[^/:]+/;

/**
 * The only error that reads from the explorer throw. Its message contains the path, but never the API key, and not the id, which a
 * person may have typed (docs/operating.md, Privacy).
 */
export class ExplorerError extends Error {
  override readonly name = "ExplorerError";
  readonly status: number | undefined;
  /** Wait that the explorer asks for with Retry-After, in ms. */
  readonly retryAfterMs: number | undefined;
  /** True if it failed before a request was sent. */
  readonly unsent: boolean;

  constructor(
    readonly problem: ExplorerProblem,
    message: string,
    { status, retryAfterMs, cause, unsent = false }: ErrorDetails = {},
  ) {
    super(message.replace(ID, "{id}"), cause === undefined ? undefined : { cause });
    this.status = status;
    this.retryAfterMs = retryAfterMs;
    this.unsent = unsent;
  }

  /** The message without the request's path. */
  get reason(): string {
    return this.message.replace(/^GET \S+: /, "");
  }

  /** True if a retry may succeed. */
  get retryable(): boolean {
    return this.problem === "limited" || this.problem === "failing" || this.problem === "slow";
  }
}

/** Returns a function that tells if an error is one of the explorer's with one of these problems. */
export const problemIs =
  (...problems: readonly ExplorerProblem[]) =>
  (error: unknown): boolean =>
    error instanceof ExplorerError && problems.includes(error.problem);

/** True if the explorer doesn't know the thing, or doesn't accept its id. */
export const isUnknown = problemIs("missing", "rejected");

/**
 * Returns the answer about a thing that a person named, or `undefined` if it can't be read right now.
 * @param toError returns the error to throw if the explorer doesn't know the thing
 */
export const ifKnown = <T>(answer: Promise<T>, toError: () => Error): Promise<T | undefined> =>
  ifAnswered(
    answer.catch((error: unknown) => {
      throw isUnknown(error) ? toError() : error;
    }),
  );

/** Returns the answer, or `undefined` if the explorer gives none. Use it for optional parts of a screen. */
export async function ifAnswered<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ExplorerError) return undefined;
    throw error;
  }
}
