/** Something that the person can put right. Its message is the sentence they get. */
export class PersonError extends Error {
  override readonly name = "PersonError";

  /** @param kind what went wrong, in a word for the metrics */
  constructor(
    message: string,
    readonly kind: "user_error" | "missing" = "user_error",
  ) {
    super(message);
  }
}
