import { existsSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { parseArgs } from "node:util";
import { loadStorageConfig, misspeltVariables } from "./config.js";
import { decodedText } from "./config-shapes.js";
import { openStorage } from "./storage/index.js";
import { IN_USE, isLeaseHeld } from "./storage/lease.js";
import { explainRedis } from "./storage/redis-words.js";
import { StateError } from "./storage/store.js";
import { exportState, importState, readExported } from "./storage/transfer.js";
import { errorCode } from "./util/error-code.js";

/**
 * Exports the state to a file or imports it from one: `state-tool export FILE` or `state-tool import FILE [--replace]`. `-` as
 * the file means standard output or input.
 */

const USAGE = `Use: npm run state -- export FILE
     npm run state -- import FILE [--replace]

Exports the bot's state from DATA_DIR, or from REDIS_URL if it is set, to a file, or imports it from one. FILE may be - for standard output or input. --replace overwrites the existing state.`;
const STANDARD = "-";
const STDIN = 0;
const CONNECT_MS = 5_000;

async function openIdle(action: "export" | "import") {
  const config = loadStorageConfig();
  for (const hint of misspeltVariables()) if (/REDIS_URL|DATA_DIR/.test(hint)) console.error(hint);
  if (config.redisUrl === undefined && action === "export" && isMissing(join(config.dataDir, "crier.db")))
    throw new StateError(`DATA_DIR: there is no state in ${config.dataDir}, and REDIS_URL is not set`);
  // If a bot uses the file, opening it fails because the bot has locked it.
  const { store, redis, close } = await openStorage(config, { error() {}, warn() {}, info() {} });
  if (redis && !(await redis.connected(CONNECT_MS))) {
    await close();
    throw new StateError(redis.problem() ?? "REDIS_URL: Redis cannot be reached");
  }
  return {
    store,
    /** @throws {StateError} if a bot is using the store */
    async checkIdle(): Promise<void> {
      const isHeld =
        redis &&
        (await isLeaseHeld(redis.client).catch((cause: unknown) => {
          throw new StateError(explainRedis(cause), { cause });
        }));
      if (isHeld) throw new StateError(IN_USE);
    },
    /** The file, or the host and the database of Redis, for messages. */
    place: config.redisUrl === undefined ? join(config.dataDir, "crier.db") : redisPlace(config.redisUrl),
    close,
  };
}

/** Returns the host and the database in Redis' address, without its user and password. */
function redisPlace(url: string): string {
  const { host, pathname } = new URL(url);
  return `Redis at ${host}${pathname === "/" ? "" : pathname}`;
}

/** Parses the command line. @throws {StateError} with the usage if an option is unknown */
function parseGiven() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: { replace: { type: "boolean", default: false }, help: { type: "boolean", short: "h" } },
    });
  } catch (error) {
    throw new StateError(`${error instanceof Error ? error.message.split(". ")[0] : error}.\n\n${USAGE}`);
  }
}

async function main(): Promise<void> {
  const { positionals, values } = parseGiven();
  if (values.help) {
    console.log(USAGE);
    return;
  }
  const [action, file, ...others] = positionals;
  if ((action !== "export" && action !== "import") || file === undefined || others.length > 0)
    throw new StateError(USAGE);
  // A file that cannot be read must not leave an empty state behind.
  const imported = action === "import" ? readExported(readJson(file)) : undefined;
  const openedStore = await openIdle(action);
  const { place } = openedStore;
  try {
    if (action === "export") {
      const state = await exportState(openedStore.store);
      // A nightly export of the wrong database must not replace the last good one.
      if (Object.keys(state.collections).length === 0)
        throw new StateError(`There is no state to export in ${place}`);
      await writeText(file, `${JSON.stringify(state)}\n`);
      const documents = Object.values(state.collections).flatMap((each) => Object.keys(each));
      console.error(`Exported ${documents.length} documents from ${place}`);
    } else {
      await openedStore.checkIdle();
      const count = await importState(openedStore.store, imported, values.replace);
      console.error(`Imported ${count} documents into ${place}`);
    }
  } finally {
    await openedStore.close();
  }
}

/** @throws {StateError} if the folder may not be read */
function isMissing(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) === undefined;
  } catch (error) {
    throw new StateError(
      `DATA_DIR: ${file} can't be read (${errorCode(error)}). Run this as the user who runs the bot`,
    );
  }
}

/** Writes a file completely, or leaves the one that is there as it is. A device or a pipe gets the text directly. */
async function writeText(file: string, text: string): Promise<void> {
  try {
    // A pipe that is shared with another stream does not block, so that a synchronous write fails while it is full.
    if (file === STANDARD) await pipeline([text], process.stdout, { end: false });
    else if (!existsSync(file)) replaceFile(file, text);
    else if (statSync(file).isFile()) replaceFile(realpathSync(file), text);
    else writeFileSync(file, text);
  } catch (error) {
    throw new StateError(`${file} cannot be written: ${error instanceof Error ? error.message : error}`);
  }
}

function replaceFile(file: string, text: string): void {
  const partial = `${file}.${process.pid}.partial`;
  try {
    writeFileSync(partial, text, { mode: 0o600, flush: true });
    renameSync(partial, file);
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
}

function readJson(file: string): unknown {
  if (file !== STANDARD && !existsSync(file)) throw new StateError(`There is no file ${file}`);
  try {
    return JSON.parse(decodedText(readFileSync(file === STANDARD ? STDIN : file)));
  } catch (error) {
    if (errorCode(error) === "EISDIR")
      throw new StateError(`${file} is a folder. Name the file that an export wrote`);
    throw new StateError(`${file === STANDARD ? "The standard input" : file} cannot be read as JSON`);
  }
}

try {
  await main();
} catch (error) {
  const isExpected = error instanceof Error && (error.name === "ConfigError" || error.name === "StateError");
  console.error(isExpected ? error.message : error);
  process.exitCode = 1;
}
