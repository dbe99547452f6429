import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Plugin } from "esbuild";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** A fault of an earlier version, as a change of today's code. */
export interface CodeFault {
  readonly file: string;
  /** Texts whose first occurrence is replaced, and their replacements. */
  readonly changes: readonly (readonly [from: string, to: string])[];
  /** Changes of other files that belong to it. */
  readonly also?: readonly CodeFault[];
}

/** Returns the changed files, with their text. */
function changed({ file, changes, also = [] }: CodeFault): ReadonlyMap<string, string> {
  let contents = readFileSync(`${ROOT}${file}`, "utf8");
  for (const [from, to] of changes) {
    if (!contents.includes(from)) throw new Error(`${file} no longer contains ${from}`);
    contents = contents.replace(from, () => to);
  }
  return new Map([[`${ROOT}${file}`, contents], ...also.flatMap((each) => [...changed(each)])]);
}

/** Returns a plugin that builds the code with a fault. @throws if the code no longer contains a text that the fault replaces */
export function withFault(fault: CodeFault): Plugin {
  const files = changed(fault);
  return {
    name: "fault",
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const contents = files.get(path);
        return contents === undefined ? null : { contents, loader: "ts" };
      });
    },
  };
}
