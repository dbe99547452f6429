import { accessSync, constants, copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { openFileStore } from "../storage/file-store.js";
import { StateError, type Store } from "../storage/store.js";

/**
 * A copy of the state's file, which a bot at work may hold; undefined where there is none yet. Nothing is made or locked.
 * @throws where the folder cannot be written to
 */
export function openCopy(dataDir: string): { readonly store: Store; readonly clean: () => void } | undefined {
  const folder = existsSync(dataDir) ? dataDir : dirname(resolve(dataDir));
  if (!statSync(folder).isDirectory()) throw new StateError(`${folder} is no folder`);
  accessSync(folder, constants.W_OK);
  if (!existsSync(join(dataDir, "crier.db"))) return undefined;
  accessSync(join(dataDir, "crier.db"), constants.W_OK);
  const copy = mkdtempSync(join(tmpdir(), "crier-doctor-"));
  for (const name of ["crier.db", "crier.db-wal"])
    if (existsSync(join(dataDir, name))) copyFileSync(join(dataDir, name), join(copy, name));
  return { store: openFileStore(copy), clean: () => rmSync(copy, { recursive: true, force: true }) };
}
