import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

const PLACEHOLDER = /\$\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}/g;

/** Returns the source files of some folders as text. */
const sourcesIn = (folders: readonly string[]): readonly string[] =>
  folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => readFileSync(join(root, folder, name), "utf8")),
  );

/** Returns the first lines of the source's Markdown templates with at least four words. */
export const sentencesInSource = (): readonly string[] =>
  sourcesIn(["src/feeds", "src/screens", "src/discord", "commands"])
    .flatMap((source) => [...source.matchAll(/md`((?:[^`\\]|\\.)*)`/g)].map(([, text = ""]) => text))
    // A template that contains another one is cut off at its quote.
    .filter((text) => !text.replace(PLACEHOLDER, "").includes("${"))
    .filter((text) => (text.replace(PLACEHOLDER, "").match(/[A-Za-z']+/g) ?? []).length >= 4)
    .map((text) => text.replace(/^-# /, "").split("\\n")[0] ?? "");

/** Returns the templates of all expected errors in the source. */
export const refusalsInSource = (): readonly string[] =>
  sourcesIn(["src", "commands"])
    .flatMap((source) => [...source.matchAll(/(?:PersonError|FinalError)\(((?:[^()]|\([^()]*\))*)\)/g)])
    .flatMap(([, given = ""]) => [...given.matchAll(/"((?:[^"\\]|\\.){12,})"|`((?:[^`\\]|\\.){12,})`/g)])
    .map(([, plain, template]) => plain ?? template ?? "");

/** Returns a pattern that finds a text of the source in the book, without its Markdown. */
const patternOf = (text: string): RegExp =>
  new RegExp(
    text
      .replaceAll("\\`", "")
      .replace(/<[#@&]+(\$\{[^}]*\})>/g, "$1")
      .replace(/[`]|\*\*/g, "")
      .split(PLACEHOLDER)
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
      .join(".*"),
  );

/** Returns the texts that the book does not show, sorted, with "…" for each value. */
export const missingIn = (book: string, texts: readonly string[]): readonly string[] =>
  [
    ...new Set(
      texts.filter((text) => !patternOf(text).test(book)).map((text) => text.replace(PLACEHOLDER, "…")),
    ),
  ].sort();

/** Heading of the chapter with the sentences that no scene shows. */
export const APPENDIX = "## Rarely said";

const listed = (texts: readonly string[]): string =>
  texts
    .map((text) => text.replace(/\\?`|\*\*/g, "").replace(/<[#@&]+…>/g, "…"))
    .map((text) => `- ${text.trim()}`)
    .join("\n");

/** Returns the chapter with the sentences that no scene of the book shows, from the source. */
export const appendixTo = (book: string): string => `${APPENDIX}

No scene above shows these sentences, because they need a race, a limit or a rare state. "…" replaces a name, number or time.

### Refusals

${listed(missingIn(book, refusalsInSource()))}

### Lines of messages

${listed(missingIn(book, sentencesInSource()))}
`;
