import { spawnSync } from "node:child_process";
import { build } from "esbuild";
import { options } from "../build.js";
import { ROOT, withFault } from "./faults/code-fault.js";
import { BOT_FAULTS } from "./faults/list.js";

/**
 * `npm run fuzz:faults` builds the bot with each fault of an earlier version, and runs the fuzzer or the soak test on it. `npm run
 * fuzz:faults -- unknown-zone` tests only some. The exit code is 0 only if each fault is found.
 */
const wanted = process.argv.slice(2);
const missed: string[] = [];
for (const [name, fault] of Object.entries(BOT_FAULTS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  // Outside node_modules, because the bot finds its fonts through the nearest package.json.
  const folder = `.faults/${name}`;
  await build({ ...options, absWorkingDir: ROOT, outdir: folder, plugins: [withFault(fault)] });
  const { stdout, status } = spawnSync(
    process.execPath,
    ["--import", "tsx", `sandbox/${fault.program}.ts`, ...fault.args],
    {
      cwd: ROOT,
      encoding: "utf8",
      maxBuffer: 100_000_000,
      env: { ...process.env, BOT_DIST: `${ROOT}${folder}` },
    },
  );
  const finding = status === 0 ? undefined : (/\n\n(.+)/.exec(stdout)?.[1] ?? "it ended with an error");
  if (finding === undefined) missed.push(name);
  console.log(
    `${name} (${fault.told}), ${fault.program} ${fault.args.join(" ")}: ${finding?.slice(0, 300) ?? "NOT FOUND"}`,
  );
}
console.log(missed.length === 0 ? "Each fault is found." : `Not found: ${missed.join(", ")}`);
process.exit(missed.length === 0 ? 0 : 1);
