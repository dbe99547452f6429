import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { collectionsOf } from "../src/delivery/module.js";
import { feeds, withOperator } from "../src/feeds/index.js";
import { isScreenName } from "../src/screens/addresses.js";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Every folder and single file of the bot, in the order in which they build on each other: each imports only from those
 * before it, types included. What stands together in one row imports nothing from the others in it.
 */
const ORDER = [
  ["src/config-shapes.ts"],
  ["src/log.ts", "src/config.ts", "src/ops"],
  ["src/util"],
  ["src/text"],
  ["src/storage"],
  ["src/explorer"],
  ["src/ledger"],
  ["src/charts"],
  ["src/directory"],
  ["src/screens"],
  ["src/discord"],
  ["src/delivery"],
  ["src/feeds"],
  ["src/background.ts"],
  ["src/networks"],
  ["src/subscribe"],
  ["src/doctor"],
  ["tools/survey"],
  ["commands"],
  ["src/heartbeat.ts"],
  ["src/bot.ts", "src/doctor.ts", "src/state-tool.ts"],
  ["src/main.ts"],
] as const satisfies readonly (readonly string[])[];

interface Import {
  readonly file: string;
  /** A file of ours by its path from the root, or a package's name. */
  readonly target: string;
  readonly types: boolean;
}

const IMPORT =
  /(?:import|export)\s+(type\s)?[^;"']*?from\s+"([^"]+)"|import\(\s*"([^"]+)"\s*\)|import\s+"([^"]+)"/g;

/** What a source file imports, types and dynamic imports included. */
function importsIn(file: string, text: string): Import[] {
  return [...text.matchAll(IMPORT)].map(([, types, from, dynamic, bare]) => {
    const given = from ?? dynamic ?? bare ?? "";
    const target = given.startsWith(".")
      ? relative(root, resolve(root, dirname(file), given)).replace(/\.js$/, ".ts")
      : given;
    return { file, target, types: types !== undefined };
  });
}

const importsOf = (folder: string): Import[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(folder, name))
    .flatMap((file) => importsIn(file, readFileSync(join(root, file), "utf8")));

const bot = ["src", "commands", "tools"].flatMap(importsOf);
const isOurs = ({ target }: Import) => /^(src|commands|tools)\//.test(target);

/** The place of a file in the order: its row, and the folder or file that stands there. */
function placeOf(file: string): { row: number; unit: string } | undefined {
  for (const [row, units] of ORDER.entries()) {
    const unit = units.find((each) => file === each || file.startsWith(`${each}/`));
    if (unit) return { row, unit };
  }
  return undefined;
}

/** A chain of files that leads back to where it began. */
function findCycle(imports: readonly Import[]): readonly string[] | undefined {
  const targets = new Map<string, string[]>();
  for (const { file, target } of imports.filter(isOurs))
    targets.set(file, [...(targets.get(file) ?? []), target]);
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return undefined;
    for (const target of targets.get(file) ?? []) {
      const cycle = visit(target, [...path, file]);
      if (cycle) return cycle;
    }
    done.add(file);
    return undefined;
  };
  for (const file of targets.keys()) {
    const cycle = visit(file, []);
    if (cycle) return cycle;
  }
  return undefined;
}

const sentence = ({ file, target }: Import) => `${file} imports ${target}`;

describe("imports", () => {
  it("has a place in the order for every file", () => {
    const files = new Set(bot.flatMap((each) => (isOurs(each) ? [each.file, each.target] : [each.file])));
    expect([...files].filter((file) => !placeOf(file))).toEqual([]);
    expect(files.size).toBeGreaterThan(100);
  });

  it("go one way: each file imports only from earlier rows", () => {
    const backwards = bot.filter(isOurs).filter(({ file, target }) => {
      const [from, to] = [placeOf(file), placeOf(target)];
      return from && to && from.unit !== to.unit && to.row >= from.row;
    });
    expect(backwards.map(sentence)).toEqual([]);
  });

  it("go the way that docs/architecture.md says", () => {
    const text = readFileSync(join(root, "docs/architecture.md"), "utf8");
    const [, order = ""] = /`(config-shapes < [^`]*)`/.exec(text) ?? [];
    const documented = order
      .split("<")
      .map((row) => row.split(",").map((each) => each.trim().replace(/\.ts$/, "")));
    const inCode = ORDER.map((row) => row.map((each) => each.replace(/^src\//, "").replace(/\.ts$/, "")));
    expect(documented.map((row) => row.sort())).toEqual(inCode.map((row) => row.sort()));
  });

  it("contain no cycle", () => {
    expect(findCycle(bot)).toBeUndefined();
  });

  it("of Discord's packages are limited to the code that talks to it", () => {
    const free = /^src\/(util|text|storage|explorer|ledger|charts|directory|screens|ops)\//;
    const breaches = bot.filter(
      ({ file, target }) =>
        free.test(file) && /^(discord\.js|discord-api-types|@discordjs\/(?!formatters))/.test(target),
    );
    expect(breaches.map(sentence)).toEqual([]);
  });

  it("keep the sandbox and the bot apart, except for types", () => {
    expect(bot.filter(({ target }) => target.startsWith("sandbox/")).map(sentence)).toEqual([]);
    const breaches = importsOf("sandbox").filter((each) => isOurs(each) && !each.types);
    expect(breaches.map(sentence)).toEqual([]);
  });

  it("reads the environment in one place", () => {
    const readers = new Set(
      bot
        .map(({ file }) => file)
        .filter((file) => readFileSync(join(root, file), "utf8").includes("process.env")),
    );
    expect([...readers]).toEqual(["src/config.ts"]);
  });

  it("name no feed where messages are delivered", () => {
    const folder = join(root, "src/delivery");
    const files = readdirSync(folder).filter((name) => name !== "version-1.ts");
    const words = files.flatMap((name) => {
      const found = readFileSync(join(folder, name), "utf8").match(/governance|vote|proposal|ballot|tally/gi);
      return (found ?? []).map((word) => `${name}: ${word}`);
    });
    expect(words).toEqual([]);
  });

  it("names no feed, and none of its collections or buttons, outside its folder and the list of feeds", () => {
    const isOutside = (file: string) => !/^(src\/feeds|tools)\//.test(file);
    const imports = bot.filter(({ file, target }) => isOutside(file) && /^src\/feeds\/.+\//.test(target));
    expect(imports.map(sentence)).toEqual([]);
    const modules = withOperator(feeds);
    const names = [
      ...collectionsOf(modules).map(({ name }) => name),
      ...modules.flatMap(({ buttons = [] }) => buttons.map(({ button }) => button.wire)),
    ];
    // There are screens of validators and of voters, too.
    const own = names.filter((name) => !isScreenName(name));
    const words = new RegExp(`"(${own.join("|")})"|_FEED\\b`, "g");
    const files = new Set(bot.map(({ file }) => file).filter(isOutside));
    const found = [...files].flatMap((file) =>
      file.startsWith("src/delivery/")
        ? []
        : [...readFileSync(join(root, file), "utf8").matchAll(words)].map(([word]) => `${file}: ${word}`),
    );
    expect(found).toEqual([]);
  });
});
