import { accessSync, constants, existsSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import Database from "libsql";
import { errorCode } from "../util/error-code.js";
import { StateError } from "./store.js";

/** The store syncs each transaction itself, because SQLite would block the process meanwhile. */
export const SYNC_AT_CHECKPOINTS = "PRAGMA synchronous = NORMAL";

/** An open database. */
interface OpenDatabase {
  readonly db: Database.Database;
  /** Descriptor of its WAL file, for syncs. */
  readonly wal: number;
  /** True if the file had no content. SQLite makes a new database of it. */
  readonly wasEmpty: boolean;
}

/** Opens the database, and its WAL file for syncs. @throws {StateError} if it cannot be used */
export function openDatabase(dataDir: string, path: string): OpenDatabase {
  let db: Database.Database | undefined;
  try {
    // The state contains ids of Discord users.
    makeFolder(resolve(dataDir));
    const wasEmpty = statSync(path, { throwIfNoEntry: false })?.size === 0 && !existsSync(`${path}-wal`);
    db = new Database(path, { timeout: 500 });
    db.exec("PRAGMA journal_mode = WAL");
    db.exec(SYNC_AT_CHECKPOINTS);
    // Otherwise the file would contain deleted documents until their space is used again.
    db.exec("PRAGMA secure_delete = ON");
    // The lock is held until the process ends in any way, so that no second bot sends announcements from the same file.
    db.exec("PRAGMA locking_mode = EXCLUSIVE");
    db.exec(`CREATE TABLE IF NOT EXISTS documents (
      collection TEXT NOT NULL, id TEXT NOT NULL, document TEXT NOT NULL, PRIMARY KEY (collection, id)
    ) WITHOUT ROWID`);
    db.exec("BEGIN IMMEDIATE; COMMIT");
    check(db, path);
    return { db, wal: openSync(`${path}-wal`, "r+"), wasEmpty };
  } catch (error) {
    db?.close();
    if (error instanceof StateError) throw error;
    const code = codeOf(error);
    if (/SQLITE_BUSY|SQLITE_LOCKED/.test(code))
      throw new StateError(
        `${path} is in use by another process. Stop that one first, or set REDIS_URL to run several bots`,
      );
    if (isDamage(code)) throw new StateError(damaged(path, code));
    if (isFullDisk(code))
      throw new StateError(`DATA_DIR: the disk of ${path} is full (${code}). Free some space`);
    if (!existsSync(path))
      throw new StateError(
        `DATA_DIR: ${path} can't be made (${accessProblem(dataDir) ?? code}). Set it to a folder the bot can write to`,
      );
    const reason = statSync(path).isDirectory() ? "EISDIR" : (accessProblem(path) ?? code);
    throw new StateError(
      `DATA_DIR: ${path} can't be used (${reason}). Mount its disk writable, and let the user who runs the bot write to it and its folder`,
    );
  }
}

/** Creates a folder and those above it. With `recursive`, Node.js never returns where the system creates none, such as below /proc. */
function makeFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  makeFolder(dirname(folder));
  mkdirSync(folder, { mode: 0o700 });
}

/** Returns the code of an error, such as SQLITE_FULL, or its text. */
export const codeOf = (error: unknown): string => errorCode(error) || String(error);

/** Returns the code of the error with which a path cannot be read or written, which SQLite does not say. */
function accessProblem(path: string): string | undefined {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return undefined;
  } catch (error) {
    return codeOf(error);
  }
}

/** True for errors of a damaged file, or of one with the WAL of another. */
export const isDamage = (code: string): boolean =>
  /SQLITE_CORRUPT|SQLITE_NOTADB|SQLITE_IOERR_SHORT_READ/.test(code);

/** True if SQLite finds no space for the database or its WAL. */
const isFullDisk = (code: string): boolean => /SQLITE_FULL|SQLITE_IOERR_SHMSIZE/.test(code);

/** Returns the message about a damaged file, for the operator. */
export const damaged = (path: string, what: string): string =>
  `DATA_DIR: ${path} is damaged (${what}): restore it from a backup, or move it away to begin with an empty state. Delete crier.db-wal and crier.db-shm first`;

/** Checks the whole file before it is used. @throws {StateError} if it is damaged */
function check(db: Database.Database, path: string): void {
  const row = db.prepare("PRAGMA quick_check(1)").get() as { quick_check?: unknown } | undefined;
  const foundProblem = String(row?.quick_check ?? "no answer");
  if (foundProblem !== "ok")
    // A heading names the database first.
    throw new StateError(
      damaged(path, (/^(?!\*\*\*).+$/m.exec(foundProblem)?.[0] ?? foundProblem).slice(0, 200)),
    );
}
