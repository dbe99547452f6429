import { type REST, RESTEvents } from "discord.js";

/**
 * What time it is at Discord, epoch ms, to the second: Discord dates the ids of messages, and this machine's clock may be wrong.
 * It is learnt from the date of Discord's answers; before the first one, this machine's has to do.
 */
export function createDiscordTime(rests: readonly REST[], now = Date.now): () => number {
  let last: { readonly at: number; readonly steady: number } | undefined;
  for (const rest of rests) {
    rest.on(RESTEvents.Response, (_, { headers }) => {
      const at = Date.parse(headers.get("date") ?? "");
      if (Number.isFinite(at)) last = { at, steady: performance.now() };
    });
  }
  return () => (last ? last.at + performance.now() - last.steady : now());
}
