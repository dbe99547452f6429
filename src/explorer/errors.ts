/**
 * Why the explorer gave no answer:
 * - `missing`: it says that there is no such thing (404)
 * - `refused`: it does not accept the key, or the address is wrong (401, a redirect, or nothing but `withheld`)
 * - `withheld`: it does not give this one endpoint (403, or 404 where there always is something)
 * - `rejected`: it does not accept the request (any other 4xx)
 * - `limited`: it asks for fewer requests (429)
 * - `failing`: it answers 5xx or 408, or the connection fails
 * - `slow`: no complete answer within the deadline
 * - `unreadable`: what it sent is no such answer: HTML, nothing, another shape, or too much
 * - `busy`: others ask so much that its turn did not come in time
 * - `spent`: the person has used up the requests that one may cause
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

interface Details {
  readonly status?: number;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
  readonly unsent?: boolean;
}

/** The one error that reading from the explorer throws. Its message names the path, and never the key. */
export class ExplorerError extends Error {
  override readonly name = "ExplorerError";
  readonly status: number | undefined;
  /** How long the explorer wants us to wait, in ms. */
  readonly retryAfterMs: number | undefined;
  /** Whether it failed before any request was sent. */
  readonly unsent: boolean;

  constructor(
    readonly problem: ExplorerProblem,
    message: string,
    { status, retryAfterMs, cause, unsent = false }: Details = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.retryAfterMs = retryAfterMs;
    this.unsent = unsent;
  }

  /** Whether the same request may succeed when it is sent again. */
  get retryable(): boolean {
    return this.problem === "limited" || this.problem === "failing" || this.problem === "slow";
  }
}

/** What the explorer answers, or undefined where it gives no answer: a part never costs the whole. */
export async function ifAnswered<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ExplorerError) return undefined;
    throw error;
  }
}
