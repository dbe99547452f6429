import { closeSync, fdatasync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { LRUCache } from "lru-cache";
import type { Log } from "../log.js";
import { yieldIfBusy } from "../util/event-loop.js";
import { createNotice } from "../util/notice.js";
import { createChangeLog } from "./change-log.js";
import { createCommitQueue } from "./commit-queue.js";
import { codeOf, damaged, isDamage, openDatabase, SYNC_AT_CHECKPOINTS } from "./database-file.js";
import { type ReplaceableStore, StateError, type Write } from "./store.js";

/**
 * Number of documents that are remembered, and the maximum length of their text, in characters. Each command looks up whether its
 * author must be told something, which would otherwise take 4 % of its CPU time.
 */
const MAX_REMEMBERED = 1_000;
const MAX_TEXT = 2_000;

/** Number of documents that are read before yielding to the event loop. */
const PAGE = 250;

/** Comes after every other character in SQLite's order, which is that of UTF-8. */
const LAST_CHARACTER = "\u{10FFFF}";

const syncToDisk = promisify(fdatasync);

function isRow(value: unknown): value is { id: string; document: string } {
  return typeof value === "object" && value !== null && "id" in value && "document" in value;
}

/**
 * Opens the state in a file in the data folder. Only one process can use it at a time.
 * @param log called once when writes begin to fail, and once when they succeed again
 * @throws {StateError} if the folder is not writable, or another process uses the file
 */
export function openFileStore(dataDir: string, log?: Pick<Log, "info" | "error">): ReplaceableStore {
  const failureNotice = createNotice<StateError>(
    (err) => log?.error({ err }, "The state cannot be written; writes are retried"),
    () => log?.info({}, "The state can be written again"),
  );
  const path = join(dataDir, "crier.db");
  const { db, wal, wasEmpty } = openDatabase(dataDir, path);
  // A failed copy or a power loss may leave such a file.
  if (wasEmpty) log?.error({ path }, "The file of the state was empty; the bot begins with an empty state");
  const statements = {
    get: db.prepare("SELECT id, document FROM documents WHERE collection = ? AND id = ?"),
    page: db.prepare(
      `SELECT id, document FROM documents WHERE collection = ? AND id > ? AND id < ? ORDER BY id LIMIT ${PAGE}`,
    ),
    collections: db.prepare("SELECT DISTINCT collection AS id, '' AS document FROM documents"),
    ids: db.prepare("SELECT id, '' AS document FROM documents WHERE collection = ?"),
    put: db.prepare("INSERT OR REPLACE INTO documents (collection, id, document) VALUES (?, ?, ?)"),
    add: db.prepare("INSERT OR IGNORE INTO documents (collection, id, document) VALUES (?, ?, ?)"),
    deleteAll: db.prepare("DELETE FROM documents WHERE collection = ?"),
    delete: db.prepare("DELETE FROM documents WHERE collection = ? AND id = ?"),
  };

  /** Reads from the database. @throws {StateError} if it is damaged */
  const read = <T>(query: () => T): T => {
    try {
      return query();
    } catch (error) {
      throw isDamage(codeOf(error)) ? new StateError(damaged(path, codeOf(error)), { cause: error }) : error;
    }
  };
  const textAt = (collection: string, id: string): string | undefined => {
    const row = read(() => statements.get.get(collection, id));
    return isRow(row) ? row.document : undefined;
  };
  /** Committed documents that were read lately, by collection and id. `text` is `undefined` if there is none. */
  const remembered = new LRUCache<string, { readonly text: string | undefined }>({ max: MAX_REMEMBERED });
  const keyOf = (collection: string, id: string) => `${collection}/${id}`;
  const rememberedText = (collection: string, id: string): string | undefined => {
    const key = keyOf(collection, id);
    const known = remembered.get(key) ?? { text: textAt(collection, id) };
    if ((known.text?.length ?? 0) <= MAX_TEXT) remembered.set(key, known);
    return known.text;
  };
  const collectionNames = () =>
    read(() => statements.collections.all())
      .filter(isRow)
      .map(({ id }) => id);
  /** Rolls a failed transaction back. Returns the error for the operator. */
  const failed = (cause: unknown): StateError => {
    try {
      if (db.inTransaction) db.exec("ROLLBACK");
    } catch {
      // The first error says more. If the transaction is still open, the next commit fails and tries this again.
    }
    // An expectation may have found the file damaged.
    if (cause instanceof StateError) return cause;
    const code = codeOf(cause);
    const reason = code === "SQLITE_FULL" ? "its disk is full" : code;
    const advice = code === "SQLITE_READONLY" ? ". Let the user who runs the bot write it" : "";
    return new StateError(`DATA_DIR: ${path} cannot be written (${reason})${advice}`, { cause });
  };
  const changes = createChangeLog();
  const noteChange = (collection: string, id: string) => {
    changes.note(collection, id);
    remembered.delete(keyOf(collection, id));
  };
  const holds = (write: Write): boolean =>
    write.op !== "expect" || textAt(write.collection, write.id) === write.text;
  /** Applies a write. @returns the number of documents written */
  const apply = (write: Write): number => {
    const { op, collection, id } = write;
    if (op !== "expect") noteChange(collection, id);
    if (op === "put" || op === "add") return statements[op].run(collection, id, write.text).changes;
    if (op === "delete") statements.delete.run(collection, id);
    return 0;
  };

  /** Writes commits in one transaction. Returns which of them were applied, and the number of documents written. */
  const writeBatch = (batch: readonly (readonly Write[])[]) => {
    db.exec("BEGIN IMMEDIATE");
    let writtenCount = 0;
    const results = batch.map((writes) => {
      const applied = writes.every(holds);
      if (applied) for (const write of writes) writtenCount += apply(write);
      return applied;
    });
    db.exec("COMMIT");
    return { results, writtenCount };
  };
  let isSynced = true;
  /** Waits until the disk has the WAL. After a failed sync, Linux may have dropped pages, so all of them are written again. */
  const sync = async () => {
    if (!isSynced) db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    isSynced = false;
    await syncToDisk(wal);
    isSynced = true;
  };
  const commits = createCommitQueue(async (batch) => {
    try {
      const { results, writtenCount } = writeBatch(batch);
      await sync();
      // Only written documents show that writes work again, because deleting also works on a full disk.
      if (writtenCount > 0) failureNotice.ends();
      return results;
    } catch (cause) {
      const error = failed(cause);
      failureNotice.begins(error);
      throw error;
    }
  });

  return {
    // A read does not flush pending commits. A commit is visible once its promise has resolved.
    get: async (collection, id) => rememberedText(collection, id),
    async *pages(collection, start = "") {
      let lastId = start;
      for (;;) {
        const from = lastId;
        const rows = read(() => statements.page.all(collection, from, start + LAST_CHARACTER)).filter(isRow);
        yield rows.map(({ id, document }) => [id, document] as const);
        if (rows.length < PAGE) return;
        lastId = rows.at(-1)?.id ?? lastId;
        await yieldIfBusy();
      }
    },
    collections: async () => collectionNames(),
    changes,
    commit: commits.add,
    async replaceAll(documents, kept) {
      await commits.flush();
      try {
        // An import must be on the disk when this returns, so SQLite syncs this transaction itself.
        db.exec("PRAGMA synchronous = FULL");
        db.exec("BEGIN IMMEDIATE");
        for (const collection of collectionNames())
          if (!kept.has(collection)) {
            for (const { id } of statements.ids.all(collection).filter(isRow)) noteChange(collection, id);
            statements.deleteAll.run(collection);
          }
        for (const { collection, id, text } of documents) apply({ op: "put", collection, id, text });
        db.exec("COMMIT");
      } catch (cause) {
        throw failed(cause);
      } finally {
        db.exec(SYNC_AT_CHECKPOINTS);
      }
    },
    async close() {
      await commits.flush();
      // Pages keep copies of documents that moved to other pages before they were deleted.
      // Until a checkpoint, writes are in the WAL file next to the database. After it, the database file alone is a complete
      // backup.
      for (const statement of ["VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"])
        try {
          db.exec(statement);
        } catch {
          // The disk may be full. No write is lost, because the WAL is read at the next start.
        }
      closeSync(wal);
      db.close();
    },
  };
}
