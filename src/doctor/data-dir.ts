import { accessSync, constants, copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tryDataDir } from "../storage/data-dir.js";
import { openFileStore } from "../storage/file-store.js";
import { StateError, type Store } from "../storage/store.js";

interface Copy {
  readonly store: Store;
  /** True if there is no state yet. */
  readonly isNew: boolean;
  /** Closes the store and removes the copy. */
  readonly close: () => Promise<void>;
}

/** The database, and what was written since it was last merged. */
const FILES = ["crier.db", "crier.db-wal"] as const;
/** Maximum number of copies of files that change meanwhile. */
const MAX_COPIES = 20;

/** Thrown if a running bot writes so often that its state cannot be copied. */
export class BusyStateError extends Error {}

/** Copies the state's files. @throws {BusyStateError} if they change each time, because the parts would not fit together */
function copyFiles(from: string, to: string): void {
  const stampOf = (name: string) => {
    const found = statSync(join(from, name), { bigint: true, throwIfNoEntry: false });
    return found && `${found.size} ${found.mtimeNs}`;
  };
  for (let copies = 0; copies < MAX_COPIES; copies += 1) {
    const before = FILES.map(stampOf).join();
    for (const name of FILES) {
      rmSync(join(to, name), { force: true });
      if (existsSync(join(from, name))) copyFileSync(join(from, name), join(to, name));
    }
    if (FILES.map(stampOf).join() === before) return;
  }
  throw new BusyStateError("The running bot writes too often for a copy of its state");
}

/**
 * Tries to write a file to the folder, and removes it. Then copies the state's file, because a running bot may have locked it.
 * @throws {BusyStateError} if a running bot changes it too often
 * @throws if the folder is not writable, or the file is damaged
 */
export function openCopy(dataDir: string): Copy {
  tryDataDir(dataDir);
  const isNew = !existsSync(join(dataDir, "crier.db"));
  if (!isNew) accessSync(join(dataDir, "crier.db"), constants.W_OK);
  const copy = mkdtempSync(join(tmpdir(), "crier-doctor-"));
  const clean = () => rmSync(copy, { recursive: true, force: true });
  // Ctrl-C ends the process without cleaning up.
  process.once("exit", clean);
  try {
    copyFiles(dataDir, copy);
    const store = openFileStore(copy);
    return { store, isNew, close: () => store.close().finally(clean) };
  } catch (error) {
    clean();
    if (error instanceof StateError) throw new StateError(error.message.replaceAll(copy, dataDir));
    throw error;
  }
}
