import { fileURLToPath } from "node:url";

/** Folder of the built programs: this checkout's, or the one that BOT_DIST names, for a build with a fault. */
const FOLDER = process.env.BOT_DIST ?? fileURLToPath(new URL("../dist", import.meta.url));

/** Returns the file of a built program. */
export const builtFile = (program: "main" | "doctor" | "state-tool"): string => `${FOLDER}/src/${program}.js`;
