import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import Database from "libsql";
import type { Log } from "../log.js";
import { createNotice } from "../util/notice.js";
import { StateError, type Store, type Write } from "./store.js";

/** Commits are batched for this time in ms and written with one sync, which blocks the process. */
const GATHER_MS = 20;

/** Documents read between two turns of the event loop. */
const PAGE = 250;

interface Pending {
  readonly writes: readonly Write[];
  readonly resolve: (applied: boolean) => void;
  readonly reject: (error: unknown) => void;
}

function isRow(value: unknown): value is { id: string; document: string } {
  return typeof value === "object" && value !== null && "id" in value && "document" in value;
}

/**
 * The state in a file under the data folder, for one process at a time.
 * @param log is told when it cannot be written, and when it can again
 * @throws {StateError} if the folder cannot be written to, or another process uses the file
 */
export function openFileStore(dataDir: string, log?: Pick<Log, "info" | "error">): Store {
  const failureNotice = createNotice<StateError>(
    (err) => log?.error({ err }, "The state cannot be written; writes are retried"),
    () => log?.info({}, "The state can be written again"),
  );
  const path = join(dataDir, "crier.db");
  const db = openDatabase(dataDir, path);
  const statements = {
    get: db.prepare("SELECT id, document FROM documents WHERE collection = ? AND id = ?"),
    page: db.prepare(
      `SELECT id, document FROM documents WHERE collection = ? AND id > ? ORDER BY id LIMIT ${PAGE}`,
    ),
    collections: db.prepare("SELECT DISTINCT collection AS id, '' AS document FROM documents"),
    put: db.prepare("INSERT OR REPLACE INTO documents (collection, id, document) VALUES (?, ?, ?)"),
    add: db.prepare("INSERT OR IGNORE INTO documents (collection, id, document) VALUES (?, ?, ?)"),
    delete: db.prepare("DELETE FROM documents WHERE collection = ? AND id = ?"),
  };

  const textAt = (collection: string, id: string): string | undefined => {
    const row = statements.get.get(collection, id);
    return isRow(row) ? row.document : undefined;
  };
  const holds = (write: Write): boolean =>
    write.op !== "expect" || textAt(write.collection, write.id) === write.text;
  /** @returns how many documents it wrote */
  const apply = (write: Write): number => {
    const { op, collection, id } = write;
    if (op === "put" || op === "add") return statements[op].run(collection, id, write.text).changes;
    if (op === "delete") statements.delete.run(collection, id);
    return 0;
  };

  let pending: Pending[] = [];
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const batch = pending;
    pending = [];
    if (batch.length === 0) return;
    try {
      db.exec("BEGIN IMMEDIATE");
      let writtenCount = 0;
      const results = batch.map(({ writes }) => {
        const applied = writes.every(holds);
        if (applied) for (const write of writes) writtenCount += apply(write);
        return applied;
      });
      db.exec("COMMIT");
      // Deleting also works on a full disk.
      if (writtenCount > 0) failureNotice.ends();
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] === true);
    } catch (cause) {
      if (db.inTransaction) db.exec("ROLLBACK");
      const code = codeOf(cause);
      const why = code === "SQLITE_FULL" ? "its disk is full" : code;
      const error = new StateError(`DATA_DIR: ${path} cannot be written (${why})`, { cause });
      failureNotice.begins(error);
      for (const { reject } of batch) reject(error);
    }
  };

  return {
    // A commit can be read once its promise has resolved; a read does not write it sooner.
    get: async (collection, id) => textAt(collection, id),
    async *pages(collection) {
      let lastId = "";
      for (;;) {
        const rows = statements.page.all(collection, lastId).filter(isRow);
        yield rows.map(({ id, document }) => [id, document] as const);
        if (rows.length < PAGE) return;
        lastId = rows.at(-1)?.id ?? lastId;
        await nextTurn();
      }
    },
    async collections() {
      return statements.collections
        .all()
        .filter(isRow)
        .map(({ id }) => id);
    },
    commit: (writes) =>
      new Promise((resolve, reject) => {
        pending.push({ writes, resolve, reject });
        timer ??= setTimeout(flush, GATHER_MS);
      }),
    async close() {
      flush();
      // Writes are in the log beside the file until the checkpoint, after which the file alone is a backup.
      try {
        db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      } catch {
        // The disk may be full. The log is read at the next start, so no write is lost.
      }
      db.close();
    },
  };
}

function openDatabase(dataDir: string, path: string): Database.Database {
  let db: Database.Database | undefined;
  try {
    mkdirSync(dataDir, { recursive: true });
    db = new Database(path, { timeout: 500 });
    db.exec("PRAGMA journal_mode = WAL");
    db.exec("PRAGMA synchronous = FULL");
    // Held until the process ends, however it ends: no second bot announces from the same file.
    db.exec("PRAGMA locking_mode = EXCLUSIVE");
    db.exec(`CREATE TABLE IF NOT EXISTS documents (
      collection TEXT NOT NULL, id TEXT NOT NULL, document TEXT NOT NULL, PRIMARY KEY (collection, id)
    ) WITHOUT ROWID`);
    db.exec("BEGIN IMMEDIATE; COMMIT");
    check(db, path);
    return db;
  } catch (error) {
    db?.close();
    if (error instanceof StateError) throw error;
    const code = codeOf(error);
    throw new StateError(
      /SQLITE_BUSY|SQLITE_LOCKED/.test(code)
        ? `${path} is in use by another process: only one bot may use it; several need a REDIS_URL`
        : /SQLITE_CORRUPT|SQLITE_NOTADB/.test(code)
          ? damaged(path, code)
          : `DATA_DIR: ${path} cannot be used (${code}): it wants a folder the bot may write to`,
    );
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : String(error);

const damaged = (path: string, what: string): string =>
  `DATA_DIR: ${path} is damaged (${what}): restore it from a backup, or move it away to begin with an empty state`;

/** Looks through the whole file before anything is done with it. @throws {StateError} if it is damaged */
function check(db: Database.Database, path: string): void {
  const row = db.prepare("PRAGMA quick_check(1)").get() as { quick_check?: unknown } | undefined;
  const foundProblem = String(row?.quick_check ?? "no answer");
  if (foundProblem !== "ok")
    throw new StateError(damaged(path, foundProblem.split("\n")[0]?.slice(0, 200) ?? ""));
}
