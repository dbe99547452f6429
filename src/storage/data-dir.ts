import { existsSync, lstatSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Config, ConfigError, loadConfig, readStorageConfig } from "../config.js";
import { errorCode } from "../util/error-code.js";
import { present } from "../util/present.js";
import { StateError } from "./store.js";

/**
 * Tries to write a file to the folder of the state, or to the nearest one above it that exists, and removes it.
 * @throws {StateError} if it is a broken link, or no folder
 * @throws if it is not writable, or its disk is full
 */
export function tryDataDir(dataDir: string): void {
  // The bot creates the folder, and those above it.
  let folder = resolve(dataDir);
  while (lstatSync(folder, { throwIfNoEntry: false }) === undefined) folder = dirname(folder);
  if (!existsSync(folder))
    throw new StateError(`${folder} is a broken link. Mount its target, or set DATA_DIR to another folder`);
  if (!statSync(folder).isDirectory()) throw new StateError(`${folder} isn't a folder. Set DATA_DIR to one`);
  // Permissions do not reveal a full disk, or one that is mounted read-only.
  const trial = join(mkdtempSync(join(folder, ".crier-trial-")), "trial");
  try {
    writeFileSync(trial, "Can this folder be written to?");
  } finally {
    rmSync(dirname(trial), { recursive: true, force: true });
  }
}

/** Returns the settings of the storage. `undefined` if they are wrong. */
function storageConfig(): ReturnType<typeof readStorageConfig> | undefined {
  try {
    return readStorageConfig();
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

/** Returns why the folder of the state can't be used. `undefined` if it can, or isn't used, or if its settings are wrong. */
function dataDirProblem(): string | undefined {
  const storage = storageConfig();
  if (!storage || storage.redisUrl !== undefined) return undefined;
  const { dataDir } = storage;
  try {
    tryDataDir(dataDir);
    return undefined;
  } catch (error) {
    return error instanceof StateError
      ? `DATA_DIR: ${error.message}`
      : `DATA_DIR: ${dataDir} can't be used (${errorCode(error)}). Set it to a folder the bot can write to`;
  }
}

/**
 * Like `loadConfig`. If that fails, it also tries the folder of the state, so that one start names all problems.
 * @throws {ConfigError} see parseConfig
 */
export function loadStartConfig(): Config {
  try {
    return loadConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(present([...error.problems, dataDirProblem()]));
  }
}
