import { readdirSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build } from "esbuild";

/**
 * Builds what runs in production: one file for each program, and one for each part that is loaded only when it is used.
 * Loading the packages' many hundred files one by one took as long as everything else at the start (docs/benchmarks.md).
 */

/** Build options, which `npm run dev` and the builds with faults share. */
export const options: BuildOptions = {
  entryPoints: ["src/main.ts", "src/doctor.ts", "src/state-tool.ts"],
  outdir: "dist",
  outbase: ".",
  bundle: true,
  splitting: true,
  // V8 keeps the source in memory, as two bytes per character if a comment has a typographic quote. Without comments and
  // indentation it takes 10 MB less. Names stay, and lines are short enough for a stack trace to point at something.
  minifyWhitespace: true,
  lineLimit: 160,
  format: "esm",
  platform: "node",
  target: "node20.19",
  sourcemap: true,
  logLevel: "warning",
  // Packages with native code, and optional dependencies of discord.js and ws.
  external: ["libsql", "@napi-rs/canvas", "bufferutil", "utf-8-validate", "zlib-sync"],
  // CommonJS packages load Node's own modules with `require`, which does not exist in a module.
  banner: {
    js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
  },
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { metafile } = await build({ ...options, metafile: true });
  const built = new Set(Object.keys(metafile.outputs).map((file) => resolve(file)));
  // Only what is left over from earlier code, because a bot that runs loads its parts when it uses them.
  for (const entry of readdirSync("dist", { recursive: true, withFileTypes: true })) {
    const file = resolve(entry.parentPath, entry.name);
    if (entry.isFile() && !built.has(file)) rmSync(file);
  }
}
