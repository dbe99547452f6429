/** An error response in Discord's format. */
export class DiscordError extends Error {
  constructor(
    readonly status: number,
    readonly code: number,
    message: string,
    readonly errors?: object,
  ) {
    super(message);
  }

  get body(): object {
    return { message: this.message, code: this.code, ...(this.errors ? { errors: this.errors } : {}) };
  }
}

export const unknownMessage = () => new DiscordError(404, 10_008, "Unknown Message");
export const unknownChannel = () => new DiscordError(404, 10_003, "Unknown Channel");
export const unknownInteraction = () => new DiscordError(404, 10_062, "Unknown interaction");
export const alreadyAcknowledged = () =>
  new DiscordError(400, 40_060, "Interaction has already been acknowledged.");
export const unknownWebhook = () => new DiscordError(404, 10_015, "Unknown Webhook");
export const missingAccess = () => new DiscordError(403, 50_001, "Missing Access");
export const missingPermissions = () => new DiscordError(403, 50_013, "Missing Permissions");
export const unauthorized = () => new DiscordError(401, 0, "401: Unauthorized");

/** Wrong fields by their path, such as `embeds.0.title`. */
export type Faults = Map<string, string>;

/** Returns the error for a form with invalid fields. */
export function invalidForm(faults: Faults): DiscordError {
  const errors: Record<string, unknown> = {};
  for (const [path, message] of faults) {
    let node = errors;
    for (const part of path.split(".")) {
      node[part] ??= {};
      node = node[part] as Record<string, unknown>;
    }
    node._errors = [{ code: "BASE_TYPE_INVALID", message }];
  }
  return new DiscordError(400, 50_035, "Invalid Form Body", errors);
}
