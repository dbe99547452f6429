import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { messagesBook } from "./book/index.js";

/** Writes docs/messages.md: `npm run messages`. */
const FILE = fileURLToPath(new URL("../docs/messages.md", import.meta.url));
writeFileSync(FILE, await messagesBook());
console.log(`Written: ${FILE}`);
process.exit(0);
