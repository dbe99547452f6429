import { REST } from "discord.js";
import type { Config } from "../../config.js";
import { type State, StateError } from "../../storage/state.js";
import { checkDiscord, checkSubscriptions, type Definition } from "./discord.js";
import { checkExplorer } from "./explorer.js";
import { type Finding, fine, notice, wordsOf, wrong } from "./finding.js";
import { checkRedis, openCopy } from "./storage.js";

/** Checks everything the bot needs against the real things, one after another. Nothing is changed, no secret shown. */
export async function* checkAll(config: Config, definitions: readonly Definition[]): AsyncGenerator<Finding> {
  const rest = new REST({ api: config.discord.apiUrl, retries: 1, timeout: 8_000 });
  rest.setToken(config.discord.token);
  const me = yield* checkDiscord(rest, config.discord, definitions);
  yield await checkExplorer(config.explorer);
  let clean = () => {};
  let state: State | undefined;
  try {
    if (config.redisUrl !== undefined) state = yield* checkRedis(config.redisUrl);
    else {
      const opened = openCopy(config.dataDir);
      if (opened) ({ state, clean } = opened);
      yield fine(
        "DATA_DIR",
        opened ? "can be written to" : "can be written to; the first start makes the file",
      );
    }
  } catch (error) {
    const words = error instanceof StateError ? error.message : wordsOf(error);
    yield config.redisUrl === undefined
      ? wrong("DATA_DIR", words, "Set it to a folder the bot may write to, or set REDIS_URL.")
      : wrong(
          "Redis",
          words,
          "Check REDIS_URL, and that its user may use every command but the dangerous ones, and INFO.",
        );
  }
  try {
    if (me && state) yield* checkSubscriptions(rest, me, state, config.governance.channelId);
  } catch (error) {
    // A copy taken while a bot writes may be torn.
    yield notice("Subscriptions", wordsOf(error), "Run it again.");
  } finally {
    await state?.close();
    clean();
  }
}
