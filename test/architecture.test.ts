import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { collectionsOf } from "../src/delivery/module.js";
import { feeds, withOperator } from "../src/feeds/index.js";
import { isScreenName } from "../src/screens/addresses.js";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Layers of the bot: all folders and single files. Each imports only from earlier rows, types included. Entries in the same row
 * do not import each other.
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
  /** Path from the root for a file of this project, or the name of a package */
  readonly target: string;
  readonly types: boolean;
}

const IMPORT =
  /(?:import|export)\s+(type\s)?[^;"']*?from\s+"([^"]+)"|import\(\s*"([^"]+)"\s*\)|import\s+"([^"]+)"/g;

/** Returns the imports of a source file, including types and dynamic imports. */
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

/** Returns a file's row in the order, and its entry in that row. */
function placeOf(file: string): { row: number; unit: string } | undefined {
  for (const [row, units] of ORDER.entries()) {
    const unit = units.find((each) => file === each || file.startsWith(`${each}/`));
    if (unit) return { row, unit };
  }
  return undefined;
}

/** Returns a chain of imports that ends at its first file, if there is one. */
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

describe("the architecture", () => {
  it("has a place in the order for every file", () => {
    const files = new Set(bot.flatMap((each) => (isOurs(each) ? [each.file, each.target] : [each.file])));
    expect([...files].filter((file) => !placeOf(file))).toEqual([]);
    expect(files.size).toBeGreaterThan(100);
  });

  it("imports only from earlier rows", () => {
    const backwards = bot.filter(isOurs).filter(({ file, target }) => {
      const [from, to] = [placeOf(file), placeOf(target)];
      return from && to && from.unit !== to.unit && to.row >= from.row;
    });
    expect(backwards.map(sentence)).toEqual([]);
  });

  it("matches the order in docs/architecture.md", () => {
    const text = readFileSync(join(root, "docs/architecture.md"), "utf8");
    const [, order = ""] = /`(config-shapes < [^`]*)`/.exec(text) ?? [];
    const documented = order
      .split("<")
      .map((row) => row.split(",").map((each) => each.trim().replace(/\.ts$/, "")));
    const inCode = ORDER.map((row) => row.map((each) => each.replace(/^src\//, "").replace(/\.ts$/, "")));
    expect(documented.map((row) => row.sort())).toEqual(inCode.map((row) => row.sort()));
  });

  it("has no import cycles", () => {
    expect(findCycle(bot)).toBeUndefined();
  });

  it("uses Discord's packages only in the code that talks to Discord", () => {
    const free = /^src\/(util|text|storage|explorer|ledger|charts|directory|screens|ops)\//;
    const breaches = bot.filter(
      ({ file, target }) =>
        free.test(file) && /^(discord\.js|discord-api-types|@discordjs\/(?!formatters))/.test(target),
    );
    expect(breaches.map(sentence)).toEqual([]);
  });

  it("keeps the sandbox and the bot apart, except for types", () => {
    expect(bot.filter(({ target }) => target.startsWith("sandbox/")).map(sentence)).toEqual([]);
    const breaches = importsOf("sandbox").filter((each) => isOurs(each) && !each.types);
    expect(breaches.map(sentence)).toEqual([]);
  });

  it("reads the environment only in src/config.ts", () => {
    const readers = new Set(
      bot
        .map(({ file }) => file)
        .filter((file) => readFileSync(join(root, file), "utf8").includes("process.env")),
    );
    expect([...readers]).toEqual(["src/config.ts"]);
  });

  it("keeps words of the governance feed out of src/delivery", () => {
    const folder = join(root, "src/delivery");
    const files = readdirSync(folder).filter((name) => name !== "version-1.ts");
    const words = files.flatMap((name) => {
      const found = readFileSync(join(folder, name), "utf8").match(/governance|vote|proposal|ballot|tally/gi);
      return (found ?? []).map((word) => `${name}: ${word}`);
    });
    expect(words).toEqual([]);
  });

  it("keeps feeds, their collections and their buttons inside src/feeds", () => {
    const isOutside = (file: string) => !/^(src\/feeds|tools)\//.test(file);
    const imports = bot.filter(({ file, target }) => isOutside(file) && /^src\/feeds\/.+\//.test(target));
    expect(imports.map(sentence)).toEqual([]);
    const modules = withOperator(feeds);
    const names = [
      ...collectionsOf(modules).map(({ name }) => name),
      ...modules.flatMap(({ buttons = [] }) => buttons.map(({ button }) => button.wire)),
    ];
    // Some names are also names of screens.
    const own = names.filter((name) => !isScreenName(name));
    const feedNames = modules.map(({ definition }) => definition.name).join("|");
    const words = new RegExp(
      `"(${own.join("|")})"|(?<!FIRST)_FEED\\b|\\bfeed(?:\\.name)?\\s*(?:[!=]==|:)\\s*"(?:${feedNames})"`,
      "g",
    );
    const files = new Set(bot.map(({ file }) => file).filter(isOutside));
    const found = [...files].flatMap((file) =>
      // It converts the documents of version 0.1.0, which had only some feeds.
      file === "src/delivery/version-1.ts"
        ? []
        : [...readFileSync(join(root, file), "utf8").matchAll(words)].map(([word]) => `${file}: ${word}`),
    );
    expect(found).toEqual([]);
    const commands = modules.flatMap(({ definition: { name, watches = [] } }) => [
      `/subscribe ${name}`,
      ...watches.map((watch) => `/watch ${watch.name}`),
    ]);
    const advertised = [...files].flatMap((file) => {
      const text = readFileSync(join(root, file), "utf8");
      return commands.filter((each) => text.includes(each)).map((each) => `${file}: ${each}`);
    });
    expect(advertised).toEqual([]);
  });
});
