/** Returns the code of an error, such as ECONNREFUSED. Empty if it has none. */
export const errorCode = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "";

/**
 * Describes why a request had no answer, by the code or the name of the error. Its message may contain an address with a secret, and
 * errors of ky contain the request with its headers.
 */
export function connectionProblem(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return errorCode(cause) || (cause instanceof Error ? cause.name : "no connection");
}
