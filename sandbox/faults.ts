import { spawnSync } from "node:child_process";
import { build } from "esbuild";
import { options } from "../build.js";
import { ROOT, withFault } from "./faults/code-fault.js";
import { BOT_FAULTS, type BotFault } from "./faults/list.js";

/**
 * `npm run fuzz:faults` builds the bot with each fault of an earlier version, and runs the fuzzer or the soak test on it. `npm run
 * fuzz:faults -- unknown-zone` tests only some. The exit code is 0 only if each fault is found.
 */
const wanted = process.argv.slice(2);
const missed: string[] = [];

/** Runs the fuzzer or the soak test on a build of the bot. Returns its first finding, `undefined` if there is none. */
function firstFinding({ program, args }: BotFault, dist: string): string | undefined {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ["--import", "tsx", `sandbox/${program}.ts`, ...args],
    { cwd: ROOT, encoding: "utf8", maxBuffer: 100_000_000, env: { ...process.env, BOT_DIST: dist } },
  );
  if (status === 0) return undefined;
  const [, finding] = /\n\n(.+)/.exec(stdout) ?? [];
  // A program that fails for another reason has found nothing.
  if (finding === undefined) console.error(stderr || stdout);
  return finding;
}

for (const [name, fault] of Object.entries(BOT_FAULTS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  // Outside node_modules, because the bot finds its fonts through the nearest package.json.
  const folder = `.faults/${name}`;
  await build({ ...options, absWorkingDir: ROOT, outdir: folder, plugins: [withFault(fault)] });
  const finding = firstFinding(fault, `${ROOT}${folder}`);
  if (finding === undefined) missed.push(name);
  const place = `${name} (${fault.told}), ${fault.program} ${fault.args.join(" ")}`;
  console.log(`${place}: ${finding?.slice(0, 300) ?? "NOT FOUND"}`);
}
console.log(missed.length === 0 ? "Each fault is found." : `Not found: ${missed.join(", ")}`);
process.exit(missed.length === 0 ? 0 : 1);
