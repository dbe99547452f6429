import { createCommands } from "../commands/index.js";
import { ConfigError, loadConfig } from "./config.js";
import type { Finding } from "./doctor/finding.js";
import { checkAll } from "./doctor/index.js";
import { feeds } from "./feeds/index.js";

/** Checks everything the bot needs, a line each; ends with 1 where something fails. */

const SIGN = { pass: "✔", warn: "!", fail: "✖" } as const;

function print({ what, result, detail, fix }: Finding): void {
  console.log(`${SIGN[result]} ${what}: ${detail}${fix ? `\n    → ${fix}` : ""}`);
}

let failed = 0;
try {
  const config = loadConfig();
  const unused = { of: async () => ({ channels: {} }), set: async () => {} };
  const commands = createCommands(
    feeds.map((feed) => feed.definition),
    config.networks,
    unused,
  );
  print({ what: "Settings", result: "pass", detail: "complete" });
  for await (const finding of checkAll(
    config,
    commands.map(({ definition }) => definition),
  )) {
    print(finding);
    if (finding.result === "fail") failed += 1;
  }
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  for (const problem of error.problems) print({ what: "Settings", result: "fail", detail: problem });
  failed = error.problems.length;
}
console.log(failed === 0 ? "\nAll is well." : `\n${failed} thing${failed === 1 ? " is" : "s are"} wrong.`);
process.exit(failed === 0 ? 0 : 1);
