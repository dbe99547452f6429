import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { allCollections } from "../collections.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string) => readFileSync(join(root, path), "utf8");
const sources = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => read(join(folder, name)))
    .join("\n");
const all = (text: string, pattern: RegExp) =>
  new Set([...text.matchAll(pattern)].map(([, found = ""]) => found));

it("lists the packages that wait for Node 22 in CONTRIBUTING.md as for Renovate, at versions that run on Node 20", () => {
  const [, section = ""] = read("CONTRIBUTING.md").split("## What waits for Node 22");
  const listed = [...all(section.split("\n## ")[0] ?? "", /^- `([^`]+)`/gm)];
  const { packageRules } = z
    .object({
      packageRules: z.array(
        z.object({ matchPackageNames: z.array(z.string()), enabled: z.boolean().optional() }),
      ),
    })
    .parse(JSON.parse(read("renovate.json")));
  expect(packageRules.find(({ enabled }) => enabled === false)?.matchPackageNames).toEqual(listed);
  const lock = z
    .object({
      packages: z.record(
        z.string(),
        z.object({ engines: z.looseObject({ node: z.string().optional() }).optional() }),
      ),
    })
    .parse(JSON.parse(read("package-lock.json")));
  for (const name of listed) {
    const range = lock.packages[`node_modules/${name}`]?.engines?.node ?? "*";
    expect(/(^|\D)(18|20)\b|>=\s*1\d|\*/.test(range), `${name}: ${range}`).toBe(true);
  }
});

describe("the operator documentation", () => {
  const guide = read("docs/operating.md");

  it("lists exactly the existing variables, in docs/settings.md and .env.example", () => {
    const tables = read("src/config.ts")
      .split(/const \w+Variables = /)
      .slice(1)
      .map((table) => table.split("as const satisfies")[0]);
    expect(tables).toHaveLength(2);
    const variables = all(tables.join(""), /^ {2}([A-Z][A-Z_]+): /gm);
    expect(variables.size).toBeGreaterThan(10);
    expect(all(read(".env.example"), /^#?([A-Z_]+)=/gm)).toEqual(variables);
    expect(all(read("docs/settings.md"), /^\| `([A-Z_]+)`/gm)).toEqual(variables);
  });

  it("names only existing metrics, and lists all of them", () => {
    const metrics = all(read("src/ops/metrics.ts"), /name: "(crier_\w+)"/g);
    const named = (text: string) =>
      new Set([...all(text, /\b(crier_[a-z_]+)/g)].map((name) => name.replace(/_(bucket|count|sum)$/, "")));
    for (const file of ["ops/alerts.yaml", "ops/grafana.json"])
      expect(
        [...named(read(file))].filter((name) => !metrics.has(name)),
        file,
      ).toEqual([]);
    // Polls must be selected by feed: each feed polls separately, and some polls only read the state.
    for (const file of ["ops/alerts.yaml", "ops/grafana.json"])
      for (const [, selector] of read(file).matchAll(/crier_poll_seconds_count(\{[^}]*\}|)/g))
        expect(selector, file).toMatch(/feed=/);
    expect(named(guide.split("## Health and metrics")[1]?.split("## ")[0] ?? "")).toEqual(metrics);
    expect(JSON.parse(read("ops/grafana.json"))).toMatchObject({ title: "Crier" });
  });

  it("explains every log line", () => {
    const lines = all(
      // The guide spells out the job's name at the start of a line.
      sources("src").replace(/The \$\{name\}/g, "The poll of a feed"),
      /log\s*\.(?:info|warn|error)\([^;]*?["`]([A-Z][^"`]{8,})["`],?\s*\)/g,
    );
    expect(lines.size).toBeGreaterThan(15);
    const unexplained = [...lines].filter(
      (line) => !guide.includes(line.slice(0, 40).replace(/ ?[;(].*/, "")),
    );
    expect(unexplained).toEqual([]);
  });

  it("explains every log line that an alert tells the operator to look for", () => {
    const actions = [...all(read("ops/alerts.yaml"), /^ +action: (.+)$/gm)].join("\n");
    const lines = all(actions, /"([^"]+)"/g);
    expect(lines.size).toBeGreaterThan(3);
    for (const line of lines) expect(guide).toContain(line);
  });

  it("explains every error that ends the process", () => {
    const others = /^(doctor|state-tool|storage\/(transfer|redis-store)|discord\/clicks)/;
    const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }).filter(
      (name) => name.endsWith(".ts") && !others.test(name),
    );
    const texts = all(
      files.map((name) => read(`src/${name}`)).join("\n"),
      /new (?:ConfigError|StateError)\(\s*\[?\s*["`]([A-Z$][^"`]{20,})["`]/g,
    );
    expect(texts.size).toBeGreaterThan(8);
    const errors = guide.split("### The bot has exited")[1]?.split("\n### ")[0] ?? "";
    /** The longest words of a text's first sentence that do not depend on values. */
    const fixedWords = (text: string) =>
      (text.replace(/^[A-Z_]+: /, "").split(/[.:] /)[0] ?? "")
        .split(/\$\{[^}]*\}|[()]/)
        .sort((a, b) => b.length - a.length)[0]
        ?.trim() ?? "";
    const unexplained = [...texts].filter((text) => !errors.includes(fixedWords(text).slice(0, 30).trim()));
    expect(unexplained).toEqual([]);
  });

  it("links only to existing files", () => {
    const documents = readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
      (name) => /\.md$/.test(name) && !/^(node_modules|\.stryker|\.git\/)/.test(name),
    );
    expect(documents.length).toBeGreaterThan(12);
    for (const file of documents) {
      // Brackets in an example message are no link.
      const prose = read(file).replace(/```[\s\S]*?```/g, "");
      for (const target of all(prose, /\]\((?!https?:|#)([^)#]+)/g)) {
        expect(existsSync(join(root, dirname(file), target)), `${file} → ${target}`).toBe(true);
      }
    }
  });

  it("finds only names of existing files in the code", () => {
    const named = all(
      ["src", "commands", "sandbox", "bench", "test"].map(sources).join("\n"),
      /\b((?:docs|src|test|commands|sandbox|bench|ops)\/[\w./-]+\.(?:md|ts|txt|yaml|json))\b/g,
    );
    expect(named.size).toBeGreaterThan(5);
    expect([...named].filter((path) => !existsSync(join(root, path)))).toEqual([]);
    expect(
      all(["src", "commands", "sandbox"].map(sources).join("\n"), /\b([\w-]+-notes\.md|[Ee]ndpoints? \d+)/g),
    ).toEqual(new Set());
  });

  it("states the lifetime of every collection", () => {
    const table = read("docs/architecture.md");
    for (const { name, lifetime } of allCollections) {
      const row = table.split("\n").find((line) => line.startsWith("|") && line.includes(`\`${name}\``));
      expect(row ?? "", `docs/architecture.md, the row of ${name}`).toContain(lifetime.split(":")[0]);
    }
  });
});
