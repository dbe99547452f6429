import {
  accessSync,
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { openFileStore } from "../storage/file-store.js";
import { StateError, type Store } from "../storage/store.js";

interface Copy {
  readonly store: Store;
  /** True if there is no state yet. */
  readonly isNew: boolean;
  readonly clean: () => void;
}

/**
 * Tries to write a file to the folder, and removes it. Then copies the state's file, because a running bot may have locked it.
 * @throws if the folder is not writable, or the file is damaged
 */
export function openCopy(dataDir: string): Copy {
  // The bot creates the folder, and those above it.
  let folder = resolve(dataDir);
  while (lstatSync(folder, { throwIfNoEntry: false }) === undefined) folder = dirname(folder);
  if (!existsSync(folder))
    throw new StateError(`${folder} is a broken link. Mount its target, or set DATA_DIR to another folder`);
  if (!statSync(folder).isDirectory()) throw new StateError(`${folder} isn't a folder. Set DATA_DIR to one`);
  // Permissions do not reveal a full disk, or one that is mounted read-only.
  const trial = join(mkdtempSync(join(folder, ".crier-doctor-")), "trial");
  try {
    writeFileSync(trial, "Can this folder be written to?");
  } finally {
    rmSync(dirname(trial), { recursive: true, force: true });
  }
  const isNew = !existsSync(join(dataDir, "crier.db"));
  if (!isNew) accessSync(join(dataDir, "crier.db"), constants.W_OK);
  const copy = mkdtempSync(join(tmpdir(), "crier-doctor-"));
  const clean = () => rmSync(copy, { recursive: true, force: true });
  try {
    for (const name of ["crier.db", "crier.db-wal"])
      if (existsSync(join(dataDir, name))) copyFileSync(join(dataDir, name), join(copy, name));
    return { store: openFileStore(copy), isNew, clean };
  } catch (error) {
    clean();
    if (error instanceof StateError) throw new StateError(error.message.replaceAll(copy, dataDir));
    throw error;
  }
}
