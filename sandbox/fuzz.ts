import { parseArgs } from "node:util";
import { fuzz } from "./fuzz/fuzz.js";

/**
 * `npm run fuzz -- --minutes 5 --seed 7` tests every screen, feed, dialog and forged interaction against corrupted
 * explorer answers and failing answers of Discord, in a process with a 256 MB heap. Hundreds of people watch and
 * subscribe, often at the same moment. Odd seeds begin with the import of a corrupted state, and every fourth with
 * thousands of subscriptions whose alerts change together. Half of the seeds have a key that may not use every endpoint.
 *
 * The exit code is 0 only if the bot never ended, its event loop was never blocked for 200 ms, Discord refused nothing,
 * each explorer received only its own key, and the state has no large documents and keeps all limits.
 *
 * BOT_DIST tests another build of the bot. `--only PATTERN` only corrupts the answers of some endpoints. `--profile
 * FOLDER` writes a CPU profile of the bot. `--hurry 20` runs periodic jobs 20 times as often. `--explain` shows what
 * blocked the event loop. `--blocks-from 100` finds shorter blocks.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "5" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 1e9)) },
    only: { type: "string" },
    profile: { type: "string" },
    hurry: { type: "string" },
    explain: { type: "boolean" },
    "blocks-from": { type: "string" },
  },
});
const seed = Number(values.seed);
console.log(`Fuzzing for ${values.minutes} minutes with the seed ${seed}`);
const { findings, interactions, answers } = await fuzz({
  seed,
  ms: Number(values.minutes) * 60_000,
  profile: values.profile,
  explains: values.explain,
  blocksFromMs: values["blocks-from"] === undefined ? undefined : Number(values["blocks-from"]),
  hurry: values.hurry === undefined ? undefined : Number(values.hurry),
  only: values.only === undefined ? undefined : new RegExp(values.only),
});
console.log(`${interactions} interactions, ${answers} answers of the explorer`);
console.log(findings.length === 0 ? "Nothing found." : `\n${findings.slice(0, 20).join("\n")}\nSeed ${seed}`);
process.exit(findings.length === 0 ? 0 : 1);
