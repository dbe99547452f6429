// Runs a built program by its name, `npm start` and the like. If Node.js is too old or nothing is built yet, it says so in a line.
import { existsSync } from "node:fs";

const [name = ""] = process.argv.splice(2, 1);
const program = new URL(`../dist/src/${name}.js`, import.meta.url);
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`The bot needs Node.js 20.19 or newer. This is ${process.versions.node}.`);
  process.exitCode = 1;
} else if (existsSync(program)) await import(program.href);
else {
  console.error("It is not built yet: run `npm ci && npm run build` first.");
  process.exitCode = 1;
}
