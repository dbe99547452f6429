import { setTimeout as delay } from "node:timers/promises";
import { makeStack } from "../sandbox/stack.js";

/**
 * Counts the bot's own requests to the explorer in an hour without commands, with default settings. It takes
 * a real hour, because timers can't be sped up. The first argument sets another number of minutes.
 */

const minutes = Number(process.argv[2] ?? 60);
const place = await makeStack({
  explorer: { lively: false },
  env: ({ channels }) => ({ GOVERNANCE_CHANNEL_ID: channels.governance.id }),
});
await place.start();
await delay(minutes * 60_000);

const counts = new Map<string, number>();
for (const { path } of place.explorer.requests) {
  const endpoint = path.replace(/\/[^/]{20,}/g, "/{id}");
  counts.set(endpoint, (counts.get(endpoint) ?? 0) + 1);
}
console.log(`In ${minutes} idle minutes, ${place.explorer.requests.length} requests:`);
for (const [endpoint, count] of [...counts].toSorted((a, b) => b[1] - a[1]))
  console.log(`- ${endpoint}: ${count}`);
await place.close();
process.exit(0);
