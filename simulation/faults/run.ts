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

/** Bundles the simulation, with a fault if there is one. @throws see withFault */
async function bundle(name: string, fault?: Fault): Promise<string> {
  await build({
    ...options,
    absWorkingDir: ROOT,
    entryPoints: ["simulation/main.ts"],
    outbase: "simulation",
    outdir: `${FOLDER}/${name}`,
    splitting: false,
    plugins: fault ? [withFault(fault)] : [],
  });
  return `${FOLDER}/${name}/main.js`;
}

/** Runs a bundle. Returns what its judges find. */
function run(main: string, given: readonly string[]): readonly string[] {
  const { stdout } = spawnSync(process.execPath, ["--max-semi-space-size=64", main, ...given], {
    cwd: ROOT,
    encoding: "utf8",
  });
  return stdout.split("\n").filter((line) => /^ {2}\S/.test(line));
}

const withoutFault = await bundle("none");
/** Findings without a fault, by arguments. They do not show that a fault is found. */
const usual = new Map<string, readonly string[]>();
const wanted = process.argv.slice(2);
const missed: string[] = [];
for (const [name, fault] of Object.entries(FAULTS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const { seed, days = DAYS, given: more = [] } = fault;
  const given = ["--days", String(days), "--seed", String(seed), ...more];
  const key = given.join(" ");
  const usualFindings = usual.get(key) ?? run(withoutFault, given);
  if (!usual.has(key) && usualFindings.length > 0)
    console.log(`${key} finds something without a fault, such as ${usualFindings[0]?.trim()}`);
  usual.set(key, usualFindings);
  const findings = run(await bundle(name, fault), given).filter((each) => !usualFindings.includes(each));
  if (findings.length === 0) missed.push(name);
  const found =
    findings.length === 0 ? "NOT FOUND" : `${findings.length} findings, such as ${findings[0]?.trim()}`;
  console.log(`${name} (${fault.told}), seed ${seed}, ${days} days: ${found}`);
}
console.log(missed.length === 0 ? "Each fault is found." : `Not found: ${missed.join(", ")}`);
process.exit(missed.length === 0 ? 0 : 1);
