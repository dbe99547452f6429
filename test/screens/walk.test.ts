import "../../commands/index.js";
import "../../src/feeds/index.js";
import { afterEach, describe, expect, it } from "vitest";
import type { Component, Message } from "../../sandbox/discord/world.js";
import type { SandboxExplorer } from "../../sandbox/explorer/server.js";
import { buttonAt, screenNames, wireOf } from "../../src/screens/addresses.js";
import { type Harness, startHarness } from "../harness.js";
import { expectSafe, HOSTILE } from "./checks.js";

/** Size of a small ledger */
const SIZE = { validators: 30, parties: 35, voteRequests: 25, superValidators: 7, updates: 20, tokens: 3 };

const isId = (value: string) => /::1220[0-9a-f]{64}$|^[0-9a-f]{60,}(:\d+)?$/.test(value);

/** Returns a copy of a value in which every leaf except ids is changed. */
function changeLeaves(value: unknown, change: (leaf: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => changeLeaves(each, change));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [
        key,
        typeof each === "string" && isId(each) ? each : changeLeaves(each, change),
      ]),
    );
  }
  return change(value);
}

const ofRows = (change: (row: unknown) => unknown) => (answer: unknown) => {
  const page = answer as { content?: unknown[] };
  if (typeof answer !== "object" || answer === null) return answer;
  if (Array.isArray(page.content)) return { ...page, content: page.content.map(change) };
  return Array.isArray(answer) ? answer.map(change) : change(answer);
};

const emptied = (row: unknown) =>
  Object.fromEntries(
    Object.keys(typeof row === "object" && row !== null ? row : {}).map((key) => [key, null]),
  );

let turn = 0;
const MOODS: Readonly<Record<string, SandboxExplorer["mood"]>> = {
  "as usual": undefined,
  "with everything null": ofRows(emptied),
  "with everything null but ids": ofRows((row) => changeLeaves(row, () => null)),
  "with everything too long": ofRows((row) =>
    changeLeaves(row, (leaf) => {
      if (typeof leaf === "string") return "🧨long ".repeat(300);
      return typeof leaf === "number" ? 1e30 : leaf;
    }),
  ),
  "with hostile text": ofRows((row) =>
    changeLeaves(row, (leaf) => {
      turn += 1;
      return typeof leaf === "string" ? HOSTILE[turn % HOSTILE.length] : leaf;
    }),
  ),
};

/** Parameters of which each value makes a different kind of link. Of the others, only the presence counts. */
const ENUMERATED = new Set(["status", "order", "sort", "over"]);

/** Returns the kind of a link: its screen and parameters. */
function kindOf(link: string): string {
  const [screen = "", query = ""] = link.split(/\?(.*)/s);
  const pairs = query.split("&").filter(Boolean);
  return [
    screen,
    ...pairs.map((pair) => (ENUMERATED.has(pair.split("=")[0] ?? "") ? pair : pair.split("=")[0])).sort(),
  ].join(" ");
}

interface Step {
  /** Screen that contains the link */
  readonly on: string;
  readonly from: Message;
  readonly component: Component;
  readonly value: string | undefined;
  readonly link: string;
}

/** Returns the links to screens on a message. The page number is left out, because it opens a dialog. */
function linksOn(message: Message): Step[] {
  const components = message.components.flatMap((row) => row.components);
  const own = components.find((component) => component.custom_id?.startsWith("r"))?.custom_id ?? "";
  const on = own.slice(1).split("?")[0] ?? "";
  return components
    .filter((component) => !component.disabled && !component.custom_id?.startsWith("j"))
    .flatMap((component): Step[] =>
      component.options
        ? component.options.map(({ value }) => ({ on, from: message, component, value, link: value }))
        : [
            {
              on,
              from: message,
              component,
              value: undefined,
              link: (component.custom_id ?? "").slice(1),
            },
          ],
    )
    .filter(({ link }) => !isAction(link));
}

/** True for a button that does something other than opening a screen (test/commands/watch.test.ts). */
const isAction = (link: string): boolean => buttonAt(link.split("?")[0] ?? "") !== undefined;

describe("a person who follows every link from every command", () => {
  let harness: Harness;
  afterEach(() => harness.close());

  it.each(Object.entries(MOODS))("finds only valid screens, %s", async (name, mood) => {
    harness = await startHarness({ explorer: { size: SIZE, ...(mood ? { mood } : {}) } });
    const { discord, explorer } = harness;
    const { world, driver, channels } = discord;
    const { ledger } = explorer;
    /** Creates a new person for each step, because a person may cause only twenty requests a minute. */
    const somebody = () => {
      const user = world.addUser(`Walker ${world.users.size}`);
      discord.guild.members.set(user.id, []);
      return { user, channel: channels.general };
    };
    const [update] = ledger.updates;
    const ids: Readonly<Record<string, readonly (string | undefined)[]>> = {
      validator: [ledger.validators[3]?.party.id],
      party: [ledger.parties[20]?.id],
      proposal: [ledger.voteRequests[0]?.firstContractId],
      "token contract": [ledger.tokens[0]?.contractId],
      contract: [ledger.contracts[0]?.contractId, ledger.contracts.at(-1)?.contractId],
      event: [update?.events[0]?.eventId],
      update: [update?.updateId],
      id: [ledger.validators[2]?.party.id, ledger.contracts[2]?.contractId, update?.updateId],
    };

    /** Number of clicks on each kind of link. Corrupted answers look the same behind each of them. */
    const mostClicks = mood ? 1 : 2;
    const seen = new Map<string, number>();
    const queue: Step[] = [];
    const look = (message: Message, how: string) => {
      expect(message.content, how).toBe("");
      expect(message.embeds, how).toHaveLength(1);
      expect(world.refusals, how).toEqual([]);
      expectSafe(message);
      // A name that is too long must not push out other rows. A line with only "…" would mean that rows were left out.
      const { description = "" } = message.embeds[0] as { description?: string };
      expect(description, how).not.toMatch(/^…$/m);
      // Every screen has a link to another screen.
      const links = linksOn(message);
      const own = links.find(({ component }) => component.custom_id?.startsWith("r"))?.link;
      expect(links.filter(({ link }) => link !== own).length, `a way on from ${how}`).toBeGreaterThan(0);
      queue.push(...links);
    };
    /** Returns a public copy of a message. A click by another person sends a new answer instead of changing it. */
    const copyOf = (message: Message): Message => ({ ...structuredClone(message), flags: 0 });

    for (const command of driver.commandsIn(channels.general)) {
      if (["setup", "subscribe", "watch", "voters"].includes(command.name)) continue;
      const subcommands = (command.options ?? []).filter(({ type }) => type === 1);
      for (const sub of subcommands.length > 0 ? subcommands : [command]) {
        const how = sub === command ? `/${command.name}` : `/${command.name} ${sub.name}`;
        const required = (sub.options ?? []).find((option) => option.required);
        const values = required ? (ids[`${command.name} ${required.name}`] ?? ids[required.name]) : [""];
        for (const value of values ?? []) {
          const given = required ? { [required.name]: value ?? "" } : {};
          look(copyOf(await driver.ask(somebody(), how, given)), how);
        }
      }
    }
    for (let step = queue.shift(); step; step = queue.shift()) {
      const kind = `${step.on} → ${kindOf(step.link)}`;
      const times = seen.get(kind) ?? 0;
      if (times >= mostClicks) continue;
      seen.set(kind, times + 1);
      const place = somebody();
      const { from, component, value } = step;
      const option = component.options?.find((each) => each.value === value);
      const message = option
        ? await driver.choose(place, from, option.value, component.custom_id)
        : await driver.click(place, from, component.custom_id ?? "");
      look(copyOf(message), `${name}: ${step.link}`);
    }
    if (mood === undefined) {
      const walked = new Set([...seen.keys()].map((kind) => kind.split(" ")[2]));
      // A lookup opens what it finds. It has its own screen only if there are several matches.
      expect(
        screenNames.filter((screen) => !walked.has(wireOf(screen)) && screen !== "lookup"),
        "opened by no command or link",
      ).toEqual([]);
      expect(seen.size).toBeGreaterThan(120);
    }
  });
});
