import { DefaultRestOptions, DiscordAPIError, HTTPError } from "discord.js";
import { ErrorCode, hasCode } from "./errors.js";

/** Matches the address of the first response to an interaction. */
const FIRST_RESPONSE = /\/interactions\/.*\/callback(\?|$)/;

/**
 * Sends a request for @discordjs/rest. The library would repeat a first response that Discord may have received, and then take its
 * refusal of the second one for the answer. `sendDespiteBreaks` repeats it, and takes that refusal for an arrival.
 * @throws {HTTPError} if Discord fails (5xx)
 */
export const requestOnce: typeof DefaultRestOptions.makeRequest = async (url, init) => {
  const request = DefaultRestOptions.makeRequest(url, init);
  if (!FIRST_RESPONSE.test(url)) return request;
  const response = await request.catch((cause: unknown) => {
    throw new Error("The first response to an interaction was not answered", { cause });
  });
  const { status, statusText } = response;
  if (status >= 500) throw new HTTPError(status, statusText, init.method ?? "POST", url, {});
  return response;
};

/** Maximum number of attempts if the connection breaks, and if Discord fails (5xx), which it says at once. */
const ATTEMPTS = { broken: 2, failed: 4 };

/**
 * Sends something, and again if the connection breaks or Discord fails. An earlier one may have arrived: Discord refuses a second
 * first response, an edit or a deletion can be repeated, and a second follow-up is better than none.
 */
export async function sendDespiteBreaks(send: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await send();
      return;
    } catch (error) {
      if (attempt > 1 && hasCode(error, ErrorCode.InteractionHasAlreadyBeenAcknowledged)) return;
      const maxAttempts = error instanceof HTTPError ? ATTEMPTS.failed : ATTEMPTS.broken;
      if (error instanceof DiscordAPIError || attempt >= maxAttempts) throw error;
    }
  }
}
