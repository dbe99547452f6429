import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Redirects the tests' temporary files to a new folder, and deletes that folder after the run. */
export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "crier-tests-"));
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
