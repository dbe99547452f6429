import { commands } from "../commands/index.js";
import { ConfigError, loadConfig } from "./config.js";
import type { Finding } from "./ops/checks/finding.js";
import { checkAll } from "./ops/checks/index.js";

/** Checks everything the bot needs, a line each; ends with 1 where something is wrong. */

const SIGN = { true: "✔", false: "✖", undefined: "!" } as const;

function print({ what, ok, detail, mend }: Finding): void {
  console.log(`${SIGN[`${ok}`]} ${what}: ${detail}${mend ? `\n    → ${mend}` : ""}`);
}

let wrong = 0;
try {
  const definitions = commands.map(({ definition }) => definition);
  const config = loadConfig();
  print({ what: "Settings", ok: true, detail: "complete" });
  for await (const finding of checkAll(config, definitions)) {
    print(finding);
    if (finding.ok === false) wrong += 1;
  }
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  for (const problem of error.problems) print({ what: "Settings", ok: false, detail: problem });
  wrong = error.problems.length;
}
console.log(wrong === 0 ? "\nAll is well." : `\n${wrong} thing${wrong === 1 ? " is" : "s are"} wrong.`);
process.exit(wrong === 0 ? 0 : 1);
