import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** All that the tests put into the temporary folder goes into one of its own, which is removed at the end. */
export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "crier-tests-"));
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
