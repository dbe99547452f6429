import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createCommands } from "../commands/index.js";
import { MAX_WATCHES } from "../commands/watch/watches.js";
import { MAX_MAPPED } from "../src/feeds/governance/voters-command.js";
import { feeds } from "../src/feeds/index.js";
import { createNetworkChoices } from "../src/networks/choices.js";
import { newState } from "./harness.js";

const read = (name: string) => readFileSync(new URL(`../docs/${name}.md`, import.meta.url), "utf8");
const SUBCOMMAND = 1;

interface Definition {
  readonly name: string;
  readonly type?: number | undefined;
  readonly options?: readonly Definition[] | undefined;
}

/** Returns the commands of a definition, as people type them, with the names of their options. */
function typed(definition: Definition): { readonly command: string; readonly options: readonly string[] }[] {
  const options = definition.options ?? [];
  const subcommands = options.filter(({ type }) => type === SUBCOMMAND);
  if (subcommands.length === 0)
    return [{ command: definition.name, options: options.map(({ name }) => name) }];
  return subcommands.flatMap((each) =>
    typed(each).map(({ command, options: own }) => ({
      command: `${definition.name} ${command}`,
      options: own,
    })),
  );
}

describe("the documentation of commands", () => {
  const all = createCommands(feeds, [{ id: "main", name: "MainNet" }], createNetworkChoices(newState()));
  const commands = all.flatMap(({ definition }) => typed(definition));
  const [table, announcements] = [read("commands"), read("announcements")];

  it("has every command", () => {
    expect(commands.length).toBeGreaterThan(30);
    const missing = commands.filter(({ command }) => {
      const [first = "", second] = command.split(" ");
      const row = table.split("\n").find((line) => line.includes(`\`/${command}\``));
      const rows = table.split("\n").filter((line) => line.startsWith(`| \`/${first} `));
      return !row && (!second || !rows.some((line) => line.includes(`\`${second}\``)));
    });
    expect(missing.map(({ command }) => command)).toEqual([]);
  });

  it("has every option", () => {
    const isDocumented = (name: string) =>
      [table, announcements].some((text) => new RegExp(`\`${name}[:\`]`).test(text));
    const missing = commands.flatMap(({ command, options }) =>
      options.filter((name) => !isDocumented(name)).map((name) => `/${command} ${name}`),
    );
    expect(missing).toEqual([]);
  });

  it("states the current limits", () => {
    expect(table).toContain(`One person may watch ${MAX_WATCHES} things.`);
    expect(table).toContain(`A server can map ${MAX_MAPPED} super validators`);
  });
});
