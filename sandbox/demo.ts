import { parseArgs } from "node:util";
import { context } from "esbuild";
import { options } from "../build.js";
import { givePrices, livePast, PAST_MS } from "./history.js";
import { makeStack, REPORT_MS } from "./stack.js";
import { servePage } from "./web/server.js";

/**
 * Serves the sandbox as a page until Ctrl-C. With --tour it plays a tour in the terminal instead. The tour's
 * exit code is 0 only if every step succeeded. With --watch it rebuilds and restarts the bot when its code
 * changes. With --networks 2 it serves two networks.
 */

const USUAL_PORT = 4_310;

const USAGE = "Usage: npm run demo -- [--tour | [--watch] [--networks 2]]";

/** Parses the arguments. Ends the process with the usage if they are invalid, or if it is asked for. */
function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        tour: { type: "boolean", default: false },
        watch: { type: "boolean", default: false },
        networks: { type: "string", default: "1" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    if (!["1", "2"].includes(values.networks)) throw new RangeError("--networks must be 1 or 2.");
    if (values.tour && (values.watch || values.networks !== "1"))
      throw new RangeError("The tour has no other options.");
    if (!values.help) return values;
    console.log(USAGE);
    process.exit();
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n${USAGE}`);
    process.exit(1);
  }
}

const values = readArguments();
const { watch: watching } = values;
if (values.tour) {
  const { playTour } = await import("./tour.js");
  process.exit((await playTour()) ? 0 : 1);
}
const place = await makeStack({
  agoMs: PAST_MS,
  explorer: { reportMs: REPORT_MS },
  ...(values.networks === "2"
    ? { second: { size: { validators: 300, parties: 900 }, reportMs: REPORT_MS } }
    : {}),
  env: ({ channels, world, guild }) => ({
    GOVERNANCE_CHANNEL_ID: channels.governance.id,
    ...(values.networks === "2"
      ? {
          GOVERNANCE_CHANNEL_ID_TEST: world.addChannel({
            type: 0,
            guild_id: guild.id,
            name: "testnet-governance",
            position: 2,
          }).id,
        }
      : {}),
    GOVERNANCE_POLL_SECONDS: "1",
    WATCH_POLL_SECONDS: "2",
    EXPLORER_REQUESTS_PER_MINUTE: "1200",
  }),
});
const page = await servePage(place, { port: USUAL_PORT, fresh: watching });
await page.runBot(true);
await livePast(place);
await page.runBot(false);
givePrices(place.dataDir, {
  prices: place.explorer.ledger.price,
  ...(place.second ? { "test:prices": place.second.ledger.price } : {}),
});
await page.runBot(true);
console.log(
  `Crier is at work on the sandbox: no token, no key, no Redis.\n\n  ${page.url}\n\nCtrl-C ends it.`,
);

async function close(): Promise<never> {
  await page.close();
  await place.close();
  process.exit(0);
}
process.once("SIGINT", close);
process.once("SIGTERM", close);

if (watching) {
  let isFirst = true;
  let renewing = Promise.resolve();
  const renew = async () => {
    await page.runBot(false);
    await page.runBot(true);
    console.log(`${new Date().toLocaleTimeString()} The bot runs with what changed.`);
  };
  const builds = await context({
    ...options,
    plugins: [
      {
        name: "renew",
        setup: (build) =>
          build.onEnd(({ errors }) => {
            // The first build is already running. A failed build writes nothing, and the bot keeps running.
            if (!isFirst && errors.length === 0)
              renewing = renewing.then(renew).catch((error: unknown) => console.error(error));
            isFirst = false;
          }),
      },
    ],
  });
  await builds.watch();
}
