import { build } from "esbuild";
import { options } from "../build.js";

/**
 * Bundles the simulation into one file, because loading hundreds of files takes as long as simulating half a
 * day.
 */
await build({
  ...options,
  entryPoints: ["simulation/main.ts"],
  outbase: "simulation",
  outdir: "node_modules/.cache/simulation",
  splitting: false,
});
