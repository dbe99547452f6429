import { parseArgs } from "node:util";
import { type Config, ConfigError, misspeltVariables } from "./config.js";
import { type Finding, SIGN, warn } from "./doctor/finding.js";
import { loadStartConfig } from "./storage/data-dir.js";

/**
 * Checks everything that the bot needs and prints one line per check. The exit code is 1 if a check fails. The checks are loaded when
 * they run, so that wrong options and settings are reported at once.
 */

const HELP = `npm run doctor                            checks everything the bot needs, a line each
npm run doctor -- --endpoints             asks every endpoint of the explorer (about 40 requests) and reports differences from its documentation
  --report FILE                           writes the answers to a new file, with ids and names replaced; - prints them
  --token CONTRACT_ID                     a token to test with
npm run doctor -- --channel CHANNEL_ID    sends a message with everything the bot uses to a channel, then removes it`;

let printLine: (line: string) => void = console.log;

function print({ what, result, detail, fix }: Finding): void {
  printLine(`${SIGN[result]} ${what}: ${detail}${fix ? `\n    → ${fix}` : ""}`);
}

/** Runs all checks of the settings and services. */
async function* everything(config: Config): AsyncGenerator<Finding> {
  const unused = {
    of: async () => ({ channels: {} }),
    set: async () => {},
    settled: async () => {},
    release() {},
  };
  const [{ createCommands }, { feeds }, { checkAll }] = await Promise.all([
    import("../commands/index.js"),
    import("./feeds/index.js"),
    import("./doctor/index.js"),
  ]);
  const commands = createCommands(feeds, config.networks, unused);
  yield { what: "Settings", result: "pass", detail: "complete" };
  for (const hint of misspeltVariables()) yield warn("Settings", hint, "Correct the name, or remove it.");
  yield* checkAll(
    config,
    commands.map(({ definition }) => definition),
  );
}

/** Returns the last line of the report. Warnings do not count as failures, but are mentioned. */
function summaryOf(failed: number, warned: number): string {
  const warnings = warned === 1 ? "1 warning" : `${warned} warnings`;
  if (failed === 0) return warned === 0 ? "All is well." : `No errors, ${warnings}.`;
  return `${failed} error${failed === 1 ? "" : "s"}${warned === 0 ? "" : `, ${warnings}`}.`;
}

/** Parses the command line. @throws {TypeError} if an option is unknown or does not fit the others */
function readOptions() {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  const options = { endpoints: flag, report: text, token: text, channel: text, help: flag };
  const { values } = parseArgs({ options, allowPositionals: false });
  if ((values.report ?? values.token) !== undefined && !values.endpoints)
    throw new TypeError("--report and --token belong to --endpoints");
  if (values.endpoints && values.channel !== undefined)
    throw new TypeError("--endpoints and --channel are two checks: run one after the other");
  return values;
}

async function* findings(
  given: ReturnType<typeof readOptions>,
  stopped: AbortSignal,
): AsyncGenerator<Finding> {
  try {
    const config = loadStartConfig();
    if (given.endpoints) {
      const { survey } = await import("../tools/survey/survey.js");
      yield* survey(config, given, (line) => printLine(line));
    } else if (given.channel !== undefined) {
      const { checkChannel, createChannelRest } = await import("./doctor/channel.js");
      yield* checkChannel(createChannelRest(config.discord), given.channel, stopped);
    } else yield* everything(config);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const detail of error.problems) yield { what: "Settings", result: "fail", detail };
  }
}

/** Runs the checks. @returns the exit code */
async function runDoctor(): Promise<number> {
  let givenOptions: ReturnType<typeof readOptions>;
  try {
    givenOptions = readOptions();
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${HELP}`);
    return 2;
  }
  if (givenOptions.help) {
    console.log(HELP);
    return 0;
  }
  // Standard output must contain only the printed report.
  if (givenOptions.report === "-") printLine = console.error;
  let failed = 0;
  let warned = 0;
  const stopping = new AbortController();
  // During a channel check, the first signal stops the check, and its messages are removed. A second signal ends the process
  // immediately.
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => (givenOptions.channel === undefined ? process.exit(130) : stopping.abort()));
  for await (const finding of findings(givenOptions, stopping.signal)) {
    print(finding);
    if (finding.result === "fail") failed += 1;
    if (finding.result === "warn") warned += 1;
  }
  printLine(`\n${summaryOf(failed, warned)}`);
  return failed === 0 ? 0 : 1;
}

process.exit(await runDoctor());
