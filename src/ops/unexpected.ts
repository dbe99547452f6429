import type { Log } from "../log.js";

/**
 * Logs whatever nobody caught, and lets the process go on: a dispatch of Discord's that discord.js cannot read, for one, costs
 * that dispatch and nothing else. A rejection that nobody handles arrives here as well (Node: --unhandled-rejections=throw).
 * @returns what ends it
 */
export function surviveUnexpected(log: Pick<Log, "error">): () => void {
  const note = (err: unknown) => log.error({ err }, "Something failed that nobody caught; the bot goes on");
  process.on("uncaughtException", note);
  return () => process.off("uncaughtException", note);
}
