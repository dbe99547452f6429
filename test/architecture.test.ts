import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Every import of the source files below a folder, as [file, what it imports, whether types only]. */
function importsOf(folder: string): { file: string; target: string; types: boolean }[] {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ts"),
  );
  return files.flatMap((name) => {
    const file = join(folder, name);
    const text = readFileSync(join(root, file), "utf8");
    return [...text.matchAll(/import\s+(type\s)?[^;]*?from\s+"([^"]+)"|import\("([^"]+)"\)/g)].map(
      ([, types, from, dynamic]) => {
        const given = from ?? dynamic ?? "";
        const target = given.startsWith(".") ? relative(root, resolve(root, dirname(file), given)) : given;
        return { file, target, types: types !== undefined };
      },
    );
  });
}

const breaches = (folder: string, forbidden: RegExp, typesAllowed = false) =>
  importsOf(folder).filter(({ target, types }) => forbidden.test(target) && !(types && typesAllowed));

describe("who imports whom", () => {
  it("keeps the explorer and the storage free of Discord", () => {
    expect(
      breaches("src/explorer", /^discord|^@discordjs|^src\/(discord|screens|watch)\/|^commands\//),
    ).toEqual([]);
    expect(breaches("src/storage", /^discord|^@discordjs|^commands\//)).toEqual([]);
  });

  it("keeps interactions away from screens", () => {
    expect(breaches("src/screens", /^discord\.js$|^src\/discord\/(?!text)/)).toEqual([]);
  });

  it("keeps the sandbox and the bot apart", () => {
    expect(breaches("src", /^sandbox\//)).toEqual([]);
    expect(breaches("commands", /^sandbox\//)).toEqual([]);
    expect(breaches("sandbox", /^(src|commands)\//, true)).toEqual([]);
  });

  it("reads the environment in one place", () => {
    const readers = importsOf("src")
      .map(({ file }) => file)
      .filter((file) => /process\.env/.test(readFileSync(join(root, file), "utf8")));
    expect([...new Set(readers)]).toEqual(["src/config.ts"]);
  });
});
