import { closeSync, openSync, unlinkSync, writeFileSync } from "node:fs";
import type { Config } from "../../src/config.js";
import { explain } from "../../src/doctor/explorer.js";
import type { Finding } from "../../src/doctor/finding.js";
import { isAnswered } from "./ask.js";
import { checkEndpoints, reportOf, tablesOf } from "./index.js";
import { isDifference } from "./observation.js";

/** Options of a survey. */
export interface SurveyOptions {
  /** New file for the anonymized report. "-" prints it. */
  readonly report?: string;
  /** The contract id of a token to ask for. */
  readonly token?: string;
}

/**
 * Requests all endpoints of each network's explorer, and yields differences from the documentation.
 * @param say prints a line. The caller prints the findings
 */
export async function* survey(
  config: Config,
  given: SurveyOptions,
  say: (line: string) => void,
): AsyncGenerator<Finding> {
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
      // A key that may see nothing is not accepted.
      const problem = first.outcome === "withheld" ? "refused" : first.outcome;
      yield { ...explain(what, explorer, problem, first.reason), result: "fail" };
      continue;
    }
    if (check.exchanges.some(({ outcome }) => outcome === "limited"))
      yield { ...explain(what, explorer, "limited"), result: "fail" };
    const failed = check.observations.filter(({ result }) => result === "fail").length;
    const differences = check.observations.filter(isDifference).length;
    const found = differences > 0 ? "warn" : "pass";
    yield {
      what,
      result: failed > 0 ? "fail" : found,
      detail:
        differences === 0
          ? "answers as expected"
          : `${differences} ${differences === 1 ? "difference" : "differences"} from what is expected`,
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

/** For containers, whose files do not outlive them. */
const STANDARD_OUTPUT = "-";

/**
 * Checks that the report's file can be created before any request is sent. Existing files are not
 * overwritten.
 */
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
