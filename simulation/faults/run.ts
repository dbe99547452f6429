import { spawnSync } from "node:child_process";
import { build } from "esbuild";
import { options } from "../../build.js";
import { ROOT, withFault } from "../../sandbox/faults/code-fault.js";
import { FAULTS, type Fault } from "./list.js";

/**
 * `npm run simulate:faults` puts each fault of an earlier version back, runs the simulation for some days, and shows what its
 * judges find. `npm run simulate:faults -- future hold-stays` tests only some. The exit code is 0 only if each fault is found.
 */

/** Days of a run. */
const DAYS = 6;
const FOLDER = "node_modules/.cache/faults";

/** Bundles the simulation with a fault. @throws see withFault */
async function bundle(name: string, fault: Fault): Promise<string> {
  await build({
    ...options,
    absWorkingDir: ROOT,
    entryPoints: ["simulation/main.ts"],
    outbase: "simulation",
    outdir: `${FOLDER}/${name}`,
    splitting: false,
    plugins: [withFault(fault)],
  });
  return `${FOLDER}/${name}/main.js`;
}

const wanted = process.argv.slice(2);
const missed: string[] = [];
for (const [name, fault] of Object.entries(FAULTS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const main = await bundle(name, fault);
  const { seed, days = DAYS, given: more = [] } = fault;
  const given = ["--max-semi-space-size=64", main, "--days", String(days), "--seed", String(seed), ...more];
  const { stdout } = spawnSync(process.execPath, given, { cwd: ROOT, encoding: "utf8" });
  const findings = stdout.split("\n").filter((line) => /^ {2}\S/.test(line));
  if (findings.length === 0) missed.push(name);
  const found =
    findings.length === 0 ? "NOT FOUND" : `${findings.length} findings, such as ${findings[0]?.trim()}`;
  console.log(`${name} (${fault.told}), seed ${seed}, ${days} days: ${found}`);
}
console.log(missed.length === 0 ? "Each fault is found." : `Not found: ${missed.join(", ")}`);
process.exit(missed.length === 0 ? 0 : 1);
