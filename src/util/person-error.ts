/** An error that the person can fix. Its message is shown to them. */
export class PersonError extends Error {
  override readonly name = "PersonError";

  /** @param kind label for the metrics */
  constructor(
    message: string,
    readonly kind: "user_error" | "missing" = "user_error",
  ) {
    super(message);
  }
}

/** An error that remains if the person sends the same dialog again, such as a missing right. */
export class FinalError extends PersonError {}
