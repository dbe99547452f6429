// Runs a built program by its name, `npm start` and the like: where nothing is built yet, it says so in a line.
import { existsSync } from "node:fs";

const [name = ""] = process.argv.splice(2, 1);
const program = new URL(`../dist/src/${name}.js`, import.meta.url);
if (existsSync(program)) await import(program.href);
else {
  console.error("It is not built yet: run `npm ci && npm run build` first.");
  process.exitCode = 1;
}
