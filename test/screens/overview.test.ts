import { afterAll, beforeAll, expect, it } from "vitest";
import { Refused } from "../../sandbox/explorer/server.js";
import { surveyVersions } from "../../src/ledger/versions.js";
import { versionFields } from "../../src/screens/overview.js";
import { HOUR, MINUTE } from "../../src/util/units.js";
import { type Harness, SMALL, startHarness, textOf } from "../harness.js";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ explorer: { size: { ...SMALL, parties: 300, validators: 260 } } });
});
afterAll(() => harness.close());

it("the overview counts all silent validators that the explorer still calls active", async () => {
  const { ledger } = harness.explorer;
  for (const each of [...ledger.validators]) ledger.setValidatorActive(each, true);
  // More than a page of the explorer's list.
  for (const each of ledger.validators.slice(0, 150)) each.lastActiveAt -= 3 * HOUR;
  const { driver, people, channels } = harness.discord;
  const overview = await driver.ask({ user: people.ana, channel: channels.general }, "/validator list");
  expect(textOf(overview)).toContain("🟢 **110** of 260 active · 🔴 **150** inactive");
});

it("the overview is as old as its oldest list, also while no validator is silent", async () => {
  const { ledger } = harness.explorer;
  // The lists that the last test has cached expire.
  harness.pass(HOUR);
  for (const each of ledger.validators) each.lastActiveAt = harness.now();
  const { driver, people, channels } = harness.discord;
  const show = async () =>
    textOf(await driver.ask({ user: people.ana, channel: channels.general }, "/validator list"));
  await show();
  harness.explorer.mood = (answer, _, { status }) => {
    if (status === "INACTIVE") throw new Refused(500);
    return answer;
  };
  harness.pass(20 * MINUTE);
  const shown = await show();
  harness.explorer.mood = undefined;
  expect(shown).toContain("🔴 **0** inactive");
  expect(shown).toContain("Older data");
});

it("the overview does not call a validator inactive because its last report is unknown", async () => {
  const { ledger } = harness.explorer;
  harness.pass(HOUR);
  for (const [at, each] of [...ledger.validators].entries()) {
    ledger.setValidatorActive(each, at >= 200);
    each.lastActiveAt = at >= 200 ? harness.now() : harness.now() - (10 + at) * HOUR;
  }
  const unknown = new Set(ledger.validators.slice(100, 200).map(({ party }) => party.id));
  harness.explorer.mood = (answer, path) => {
    const { content, ...rest } = Object(answer) as { readonly content?: readonly Record<string, unknown>[] };
    if (!path.endsWith("/validators") || !content) return answer;
    const rows = content.map((each) =>
      unknown.has(`${each.validator}`) ? { ...each, lastActiveAt: null } : each,
    );
    return { ...rest, content: rows };
  };
  const { driver, people, channels } = harness.discord;
  const overview = await driver.ask({ user: people.ana, channel: channels.general }, "/validator list");
  harness.explorer.mood = undefined;
  expect(textOf(overview)).toContain("🟢 **60** of 260 active · 🔴 **100** inactive · ⚪ **100** unknown");
});

it("the overview is shown if only the oldest inactive validators are not answered", async () => {
  harness.pass(26 * HOUR);
  const { ledger } = harness.explorer;
  for (const [at, each] of ledger.validators.entries()) ledger.setValidatorActive(each, at >= 200);
  harness.explorer.mood = (answer, path, { status, orderBy }) => {
    if (path.endsWith("/validators") && status === "INACTIVE" && orderBy === "ASC") throw new Refused(400);
    return answer;
  };
  const { driver, people, channels } = harness.discord;
  const overview = await driver.ask({ user: people.ana, channel: channels.general }, "/validator list");
  harness.explorer.mood = undefined;
  expect(textOf(overview)).toContain("Validators: overview");
});

it("the versions say that they are old while the explorer does not answer", async () => {
  const { driver, people, channels } = harness.discord;
  const versions = () => driver.ask({ user: people.ana, channel: channels.general }, "/validator versions");
  expect(textOf(await versions())).not.toContain("Older data");
  harness.explorer.injectFault({ kind: "status", status: 500 });
  harness.pass(5 * HOUR);
  expect(textOf(await versions())).toContain("Older data");
  harness.explorer.clearFaults();
});

it("the overview names the version that most run, and how many others there are", () => {
  const versions = ["0.6.5", "0.6.5-rc.1", "0.6.4", "0.6.4-rc.1", ...Array<string>(37).fill("0.6.3")];
  const entries = versions.map((version, place) => ({ id: `v${place}`, name: null, active: true, version }));
  const [field] = versionFields(surveyVersions(entries));
  expect(`${field?.value}`.replaceAll("`", "").split("\n")).toEqual([
    "0.6.5 · **1** · 2.4% · newest seen",
    "0.6.3 · **37** · 90.2% · most common",
    "…and 3 other versions",
  ]);
});

it("the overview names the newest version while few run it, and counts all others", () => {
  const patches = Array.from({ length: 15 }, (_, at) => Array<string>(20 + at).fill(`0.4.${at}`));
  const versions = [...patches.flat(), "0.5.0", "0.5.0"];
  const entries = versions.map((version, place) => ({ id: `v${place}`, name: null, active: true, version }));
  const [field] = versionFields(surveyVersions(entries));
  const lines = `${field?.value}`.replaceAll("`", "").split("\n");
  expect(lines[0]).toContain("0.5.0 · **2**");
  expect(lines.at(-1)).toBe(`…and ${16 - (lines.length - 1)} other versions`);
});
