import type { Fault } from "../sandbox/explorer/faults.js";
import { makeStack } from "../sandbox/stack.js";
import { crowd, forgetPast, inOpenLoop, median, percentile, typed } from "./measure.js";

/** All faults of the sandbox's explorer. */
const FAULTS: readonly Fault[] = [
  { kind: "slow", ms: 5_000 },
  { kind: "status", status: 500 },
  { kind: "status", status: 401 },
  { kind: "status", status: 429, retryAfter: "1" },
  { kind: "body", body: '{"content":"lies"}' },
  { kind: "html" },
  { kind: "empty" },
  { kind: "silence" },
  { kind: "stall" },
  { kind: "reset" },
  { kind: "redirect", to: "http://127.0.0.1:9/" },
  { kind: "bomb" },
  { kind: "huge" },
];

const nameOf = (fault: Fault) => ("status" in fault ? `status ${fault.status}` : fault.kind);

/**
 * Measures commands about one network while people also use another one, whose explorer fails. Reports the
 * p99 for each fault, relative to the p99 without faults.
 */
export async function networks(
  production: Readonly<Record<string, string>>,
  row: (what: string, value: string, aim: string) => void,
): Promise<void> {
  const place = await makeStack({
    explorer: { lively: false },
    second: { lively: false, size: { validators: 300, parties: 900 } },
    env: () => ({ ...production, GOVERNANCE_POLL_SECONDS: "1" }),
  });
  await place.start();
  const { discord, second } = place;
  const subject = { discord, bot: place.bot(), somebody: crowd(discord, 200) };
  const command = typed(discord, "/validator list");
  await discord.driver.ask(subject.somebody(), "/validator list");
  const measure = async () => {
    const asking = setInterval(
      () => discord.driver.type(subject.somebody(), "/network", { network: "test" }),
      100,
    );
    const times = await inOpenLoop(subject, 50, 8_000, command);
    clearInterval(asking);
    forgetPast(subject);
    return percentile(times, 0.99);
  };
  await measure();
  const well: number[] = [];
  const failing: [string, number][] = [];
  for (const fault of FAULTS) {
    well.push(await measure());
    second?.injectFault(fault);
    failing.push([nameOf(fault), await measure()]);
    second?.clearFaults();
  }
  const usual = median(well);
  const range = (times: readonly number[]) =>
    `${(Math.min(...times) / usual).toFixed(2)} to ${(Math.max(...times) / usual).toFixed(2)}`;
  const slowest = failing.toSorted(([, a], [, b]) => b - a)[0]?.[0];
  row(
    `\`/validator list\` of one network, ${FAULTS.length} times 400 of them, p99 while both are well ÷ its median (${usual.toFixed(0)} ms)`,
    range(well),
    "noise",
  );
  row(
    `the same while the other one fails, each time in another way (the slowest: "${slowest}")`,
    range(failing.map(([, ms]) => ms)),
    "as above",
  );
  row(
    "median of those ÷ median while both are well",
    (median(failing.map(([, ms]) => ms)) / usual).toFixed(2),
    "1",
  );
  await place.close();
}
