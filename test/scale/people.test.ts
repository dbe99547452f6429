import { closeSync, fstatSync, mkdtempSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { type Harness, startHarness } from "../harness.js";

const PEOPLE = 300;
const AT_ONCE = 50;

/** How many objects of a class a heap snapshot holds. */
function instancesIn(file: string, name: string): number {
  const { snapshot, nodes, strings } = JSON.parse(readFileSync(file, "utf8"));
  const { node_fields: fields, node_types: types } = snapshot.meta;
  let count = 0;
  for (let at = 0; at < nodes.length; at += fields.length) {
    if (types[0][nodes[at]] === "object" && strings[nodes[at + 1]] === name) count += 1;
  }
  return count;
}

/** The snapshot's file, once it is whole. */
function snapshotIn(folder: string): string | undefined {
  const path = readdirSync(folder).map((file) => join(folder, file))[0];
  if (path === undefined) return undefined;
  const last = Buffer.alloc(2);
  const file = openSync(path, "r");
  readSync(file, last, 0, last.length, Math.max(0, fstatSync(file).size - last.length));
  closeSync(file);
  return last.toString() === "]}" || last.toString() === "}\n" ? path : undefined;
}

let harness: Harness;
afterEach(() => harness.close());

it("keeps nothing of the people who ask and of their servers", async () => {
  const folder = mkdtempSync(join(tmpdir(), "crier-heap-"));
  harness = await startHarness({
    env: () => ({ NODE_OPTIONS: `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${folder}` }),
  });
  const { world, driver, channels, guild } = harness.discord;
  const people = Array.from({ length: PEOPLE }, (_, at) => world.addUser(`Person ${at}`));
  for (const { id } of people) guild.members.set(id, []);
  // So many at once as are answered in time on a machine that is busy with other tests.
  for (let at = 0; at < people.length; at += AT_ONCE)
    await Promise.all(
      people
        .slice(at, at + AT_ONCE)
        .map((user) => driver.ask({ user, channel: channels.general }, "/network")),
    );
  process.kill(harness.bot().child.pid ?? 0, "SIGUSR2");
  const file = await world.until(() => snapshotIn(folder), "the snapshot", 80_000);
  // The bot itself stays, and whoever the last interactions were of.
  for (const name of ["User", "GuildMember", "Guild", "Message"]) {
    expect(instancesIn(file, name), name).toBeLessThan(10);
  }
  expect(instancesIn(file, "Client")).toBe(1);
}, 90_000);
