import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod";
import { type SandboxExplorer, startSandboxExplorer } from "../../../sandbox/explorer/server.js";
import { createDirectory } from "../../../src/directory/directory.js";
import { validatorEntry } from "../../../src/directory/entries.js";
import { createHttp } from "../../../src/explorer/http.js";
import { readPages } from "../../../src/explorer/paging.js";
import { createExplorerService, type Explorer } from "../../../src/explorer/service.js";
import { knownValidators } from "../../../src/feeds/newcomers/collections.js";
import { createNewcomersWatch } from "../../../src/feeds/newcomers/watch.js";
import { createCache } from "../../../src/storage/cache.js";
import { newState, quiet, SMALL } from "../../harness.js";
import { subscribed } from "../../spec/vote-requests.js";

const joinedSchema = z.object({ validators: z.array(z.object({ validatorName: z.string().nullable() })) });
const state = newState();
const directory = createDirectory();
const subscription = subscribed({ feed: "newcomers" });
let sandbox: SandboxExplorer;
let explorer: Explorer;
let now = Date.now();
let poll: () => Promise<readonly (string | null)[]>;

beforeAll(async () => {
  sandbox = await startSandboxExplorer({ size: { ...SMALL, validators: 150 }, lively: false });
  const get = createHttp({ apiUrl: `${sandbox.url}/v1`, apiKey: sandbox.key });
  explorer = createExplorerService({
    upstream: ({ path, query }) => get(path, query, AbortSignal.timeout(5_000)),
    cache: createCache({ memoryMb: 8, log: quiet }),
  }).for("background", { maxAgeMs: 0, keep: false });
  const steps = createNewcomersWatch({ explorer, state, directory, now: () => now });
  poll = async () => {
    const names: (string | null)[] = [];
    const subscribers = { subscriptions: async () => [subscription], isHeard: async () => true };
    for await (const { events = [], writes = [] } of steps(subscribers)) {
      await state.commit(writes);
      for (const { validators } of z.array(joinedSchema).parse(events))
        names.push(...validators.map(({ validatorName }) => validatorName));
    }
    return names;
  };
});
afterAll(() => sandbox.close());

/** Reads the whole list into the directory, as it is done every half hour. */
async function fillDirectory(): Promise<void> {
  const { data } = await readPages(
    "validators",
    (page) => explorer.validators(page),
    () => false,
  );
  now += 1_800_000;
  await directory.replace("validator", data.flatMap(validatorEntry), now);
}

/** Leaves a validator out of every list. */
function unlist(name: string): void {
  sandbox.mood = (answer) =>
    JSON.parse(JSON.stringify(answer), (_, value) =>
      Array.isArray(value) ? value.filter((row) => row?.validatorName !== name) : value,
    );
}

it("does not announce a validator that the first reading missed", async () => {
  const { data: newest } = await explorer.newValidators({ size: 100 });
  const isOld = ({ party }: { readonly party: { readonly id: string; readonly name: string | null } }) =>
    party.name !== null && newest.every(({ validator }) => validator !== party.id);
  const missed = sandbox.ledger.validators.find(isOld)?.party.name;
  expect(missed).toBeTypeOf("string");
  unlist(String(missed));
  expect(await poll()).toEqual([]);
  sandbox.mood = undefined;
  await fillDirectory();
  for (let polls = 0; polls < 3; polls += 1) expect(await poll()).toEqual([]);
});

it("announces a validator that the explorer lists late, after a hundred newer ones", async () => {
  unlist("Listed Late");
  for (const name of ["Listed Late", ...Array.from({ length: 120 }, (_, at) => `Newer ${at}`)])
    sandbox.ledger.joinValidator(name);
  expect(await poll()).toHaveLength(120);
  sandbox.mood = undefined;
  expect(await poll()).toEqual([]);
  await fillDirectory();
  expect(await poll()).toEqual(["Listed Late"]);
  const sent = sandbox.requests.length;
  expect(await poll()).toEqual([]);
  expect(sandbox.requests.length).toBe(sent + 1);
});

it("announces nobody while more have joined than it can read", async () => {
  for (let at = 0; at < 120; at += 1) sandbox.ledger.joinValidator(`Together ${at}`);
  sandbox.injectFault({ kind: "status", status: 500 }, { path: /validators$/, times: 1 });
  expect(await poll()).toEqual([]);
  expect(await poll()).toHaveLength(120);
});

it("announces the others while the whole list cannot be read, and looks again after the next reading of names", async () => {
  unlist("Listed Later");
  for (const name of ["Listed Later", ...Array.from({ length: 120 }, (_, at) => `Even newer ${at}`)])
    sandbox.ledger.joinValidator(name);
  await poll();
  sandbox.mood = undefined;
  await fillDirectory();
  sandbox.ledger.joinValidator("Ordinary");
  sandbox.injectFault({ kind: "status", status: 500 }, { path: /validators$/, times: 1 });
  expect(await poll()).toEqual(["Ordinary"]);
  expect(await poll()).toEqual([]);
  await fillDirectory();
  expect(await poll()).toEqual(["Listed Later"]);
});

it("does not announce a validator whose document could not be read", async () => {
  await poll();
  const { data: newest } = await explorer.newValidators({ size: 1 });
  const id = newest[0]?.validator ?? "";
  await state.commit([{ op: "put", collection: knownValidators.name, id, text: "{}" }]);
  expect(await poll()).toEqual([]);
  expect(await state.open(knownValidators).get(id)).toBeDefined();
});

it("finds a new validator in the whole list if the key may not read the newest ones", async () => {
  sandbox.injectFault({ kind: "status", status: 403 }, { path: /validators\/new$/ });
  sandbox.ledger.joinValidator("Without the list");
  expect(await poll()).toEqual([]);
  await fillDirectory();
  expect(await poll()).toEqual(["Without the list"]);
  sandbox.clearFaults();
  expect(await poll()).toEqual([]);
});
