import fs, { copyFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { newDataDir } from "../../sandbox/bot-process.js";

const { fdatasync } = fs;
let isFailing = false;
// The disk fails as Node reports it.
const onDisk = (fd: number, done: (error: NodeJS.ErrnoException | null) => void) => {
  if (isFailing) done(Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO" }));
  else fdatasync(fd, done);
};
Object.assign(fs, { fdatasync: onDisk });
syncBuiltinESMExports();
// The store takes the function when it is loaded, and test files share what is loaded.
vi.resetModules();
const { openFileStore } = await import("../../src/storage/file-store.js");

afterAll(() => {
  isFailing = false;
  Object.assign(fs, { fdatasync });
  syncBuiltinESMExports();
});

const put = (id: string) => ({ op: "put", collection: "tokens", id, text: `"${id}"` }) as const;

it("refuses a commit that the disk does not confirm, and writes it again with the next one", async () => {
  const dataDir = newDataDir();
  const store = openFileStore(dataDir);
  expect(await store.commit([put("before")])).toBe(true);
  isFailing = true;
  await expect(store.commit([put("unconfirmed")])).rejects.toThrow(/cannot be written \(EIO\)/);
  isFailing = false;
  expect(await store.commit([put("after")])).toBe(true);
  // The disk may have lost the log (Linux marks failed pages as clean), so the database alone must have everything.
  const copyDir = newDataDir();
  copyFileSync(join(dataDir, "crier.db"), join(copyDir, "crier.db"));
  const copy = openFileStore(copyDir);
  for (const id of ["before", "unconfirmed", "after"]) expect(await copy.get("tokens", id)).toBe(`"${id}"`);
  await Promise.all([store.close(), copy.close()]);
});
