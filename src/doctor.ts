import { closeSync, openSync, unlinkSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { REST } from "discord.js";
import { createCommands } from "../commands/index.js";
import { type Config, ConfigError, loadConfig } from "./config.js";
import { checkChannel } from "./doctor/channel.js";
import { isAnswered } from "./doctor/endpoints/ask.js";
import { checkEndpoints, reportOf, tablesOf } from "./doctor/endpoints/index.js";
import { explain } from "./doctor/explorer.js";
import { type Finding, SIGN } from "./doctor/finding.js";
import { checkAll } from "./doctor/index.js";
import { feeds } from "./feeds/index.js";

/** Checks everything the bot needs, a line each; ends with 1 where something fails. */

const HELP = `npm run doctor                            checks everything the bot needs, a line each
npm run doctor -- --endpoints             asks all endpoints of the explorer, some 40 requests, and says what is unexpected
  --report FILE                           writes what was answered to a new file, its ids and names replaced; - prints it
  --token CONTRACT_ID                     a token to ask for
npm run doctor -- --channel CHANNEL_ID    sends a message with everything the bot uses to a channel, and removes it`;

/** Where a report is printed, it is all that is on standard output. */
let say: (line: string) => void = console.log;

function print({ what, result, detail, fix }: Finding): void {
  say(`${SIGN[result]} ${what}: ${detail}${fix ? `\n    → ${fix}` : ""}`);
}

/** Everything, with a finding for each thing. */
async function* everything(config: Config): AsyncGenerator<Finding> {
  const unused = { of: async () => ({ channels: {} }), set: async () => {} };
  const definitions = feeds.map((feed) => feed.definition);
  const commands = createCommands(definitions, config.networks, unused);
  yield { what: "Settings", result: "pass", detail: "complete" };
  yield* checkAll(
    config,
    commands.map(({ definition }) => definition),
  );
}

/** The explorers' endpoints, with a finding for each explorer. */
async function* endpoints(config: Config, given: Options): AsyncGenerator<Finding> {
  const reports: string[] = [];
  const refused = given.report === undefined ? undefined : tryReport(given.report);
  if (refused) {
    yield refused;
    return;
  }
  for (const { name, explorer } of config.networks) {
    const what = config.networks.length > 1 ? `Explorer of ${name}` : "Explorer";
    const atTerminal = process.stdout.isTTY && given.report !== STANDARD_OUTPUT;
    const progress = (sent: number) => atTerminal && process.stdout.write(`\r${what}: ${sent} requests sent`);
    if (!atTerminal) say(`${what}: sending some 40 requests, at most ${explorer.requestsPerMinute} a minute`);
    const check = await checkEndpoints(explorer, { tokenId: given.token, onProgress: progress });
    if (atTerminal) process.stdout.write("\r\u001b[K");
    for (const line of tablesOf(check)) say(line);
    say("");
    reports.push(reportOf(check));
    const [first] = check.exchanges;
    if (first && !check.exchanges.some(isAnswered) && first.outcome !== "answered") {
      yield { ...explain(what, explorer, first.outcome), result: "fail" };
      continue;
    }
    if (check.exchanges.some(({ outcome }) => outcome === "limited"))
      yield { ...explain(what, explorer, "limited"), result: "fail" };
    const failed = check.observations.filter(({ result }) => result === "fail").length;
    const differences = check.observations.filter(({ result }) => result !== "pass").length;
    yield {
      what,
      result: failed > 0 ? "fail" : differences > 0 ? "warn" : "pass",
      detail: differences === 0 ? "answers as expected" : `${differences} differences from what is expected`,
      ...(differences === 0
        ? {}
        : { fix: "Please report them: --report FILE writes what to attach to an issue." }),
    };
  }
  const report = `[${reports.join(",")}]\n`;
  if (given.report === STANDARD_OUTPUT) process.stdout.write(report);
  else if (given.report !== undefined) {
    writeFileSync(given.report, report, { flag: "wx", mode: 0o600 });
    yield {
      what: "Report",
      result: "pass",
      detail: `written to ${given.report}, its ids and names replaced`,
    };
  }
}

/** A container has no file that outlives it. */
const STANDARD_OUTPUT = "-";

/** Whether a new file can be made for the report, before anything is asked; one that is there already is left alone. */
function tryReport(file: string): Finding | undefined {
  if (file === STANDARD_OUTPUT) return undefined;
  try {
    closeSync(openSync(file, "wx", 0o600));
    unlinkSync(file);
    return undefined;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const detail = code === "EEXIST" ? `${file} is there already` : `${file} cannot be written (${code})`;
    return { what: "Report", result: "fail", detail, fix: "Name a new file, in a folder you may write to." };
  }
}

/** What was asked for. */
interface Options {
  readonly endpoints?: boolean;
  readonly report?: string;
  readonly token?: string;
  readonly channel?: string;
  readonly help?: boolean;
}

/** @throws {TypeError} for what it does not know */
function readOptions(): Options {
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

async function* findings(given: Options, stopped: AbortSignal): AsyncGenerator<Finding> {
  try {
    const config = loadConfig();
    if (given.endpoints) yield* endpoints(config, given);
    else if (given.channel !== undefined) {
      const { apiUrl, token } = config.discord;
      yield* checkChannel(
        new REST({ api: apiUrl, retries: 1, timeout: 8_000 }).setToken(token),
        given.channel,
        stopped,
      );
    } else yield* everything(config);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const detail of error.problems) yield { what: "Settings", result: "fail", detail };
  }
}

/** @returns the code to end with */
async function run(): Promise<number> {
  let given: Options;
  try {
    given = readOptions();
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${HELP}`);
    return 2;
  }
  if (given.help) {
    console.log(HELP);
    return 0;
  }
  if (given.report === STANDARD_OUTPUT) say = console.error;
  let failed = 0;
  const stopping = new AbortController();
  // What was sent to a channel is removed first; a second signal ends it at once. All else has nothing to take back.
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => (given.channel === undefined ? process.exit(130) : stopping.abort()));
  for await (const finding of findings(given, stopping.signal)) {
    print(finding);
    if (finding.result === "fail") failed += 1;
  }
  say(failed === 0 ? "\nAll is well." : `\n${failed} thing${failed === 1 ? " is" : "s are"} wrong.`);
  return failed === 0 ? 0 : 1;
}

process.exit(await run());
