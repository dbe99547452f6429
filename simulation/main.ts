import { parseArgs } from "node:util";
import { VirtualClock } from "./clock.js";
import { RHYTHMS } from "./history/reports.js";

/**
 * `npm run simulate -- --days 30 --seed 7 --runs 1` runs the bot's whole background for 30 days on a virtual
 * clock, with the events drawn from a seed. An oracle that shares no code with the bot checks the messages.
 * Further runs use the following seeds. `--networks 2` serves two networks. `--rhythm hour` and `--validators
 * 8` override the seed. With `--calm` nothing goes wrong, and there must be no alerts. `--find TEXT` prints
 * the messages that contain a text. The exit code is 0 only if all messages were correct.
 */
const { values } = parseArgs({
  options: {
    days: { type: "string", default: "30" },
    seed: { type: "string", default: "7" },
    runs: { type: "string", default: "1" },
    networks: { type: "string", default: "1" },
    rhythm: { type: "string" },
    validators: { type: "string" },
    calm: { type: "boolean", default: false },
    find: { type: "string" },
  },
});
const days = Number(values.days);
// A time zone with daylight saving, on which nothing may depend.
process.env.TZ = "Europe/Berlin";
const real = { now: performance.now.bind(performance) };
const clock = new VirtualClock(Date.UTC(2026, 2, 20));
clock.install();
// Load the bot only after this process's own time has been replaced.
const { simulate } = await import("./simulate.js");
let failed = 0;
for (let run = 0; run < Number(values.runs); run += 1) {
  const seed = Number(values.seed) + run;
  const startedAt = real.now();
  const { wrong, digest, messages, requests, commits, documents, processes, answers, find } = await simulate(
    clock,
    seed,
    days,
    Number(values.networks),
    {
      rhythm: RHYTHMS.find((each) => each === values.rhythm),
      isCalm: values.calm,
      validatorCount: values.validators === undefined ? undefined : Number(values.validators),
    },
    (done, logged) => console.error(`Seed ${seed}: ${done} of ${days} days, ${logged} errors in the log`),
  );
  const tookMs = real.now() - startedAt;
  const times = Math.round((days * 86_400_000) / tookMs);
  console.log(
    `Seed ${seed}: ${days} days in ${(tookMs / 1_000).toFixed(1)} s (${times} times the clock), ${processes} processes, ${messages} messages, ${answers} answers, ` +
      `${requests.explorer} + ${requests.discord} requests, ${commits} commits, digest ${digest}`,
  );
  if (run === 0) console.log(`Left behind: ${JSON.stringify(documents)}`);
  for (const line of wrong.slice(0, 20)) console.log(`  ${line}`);
  if (values.find !== undefined) for (const line of find(values.find)) console.log(line.slice(0, 1_000));
  if (wrong.length > 0) failed += 1;
}
console.log(failed === 0 ? "Nothing was told wrongly." : `${failed} runs failed.`);
process.exit(failed === 0 ? 0 : 1);
