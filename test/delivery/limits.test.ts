import { expect, it } from "vitest";
import { ownerRevisions, watchers } from "../../src/delivery/collections.js";
import { commitWithin, forgetOldRevisions } from "../../src/delivery/limits.js";
import { PersonError } from "../../src/util/person-error.js";
import { DAY, MINUTE } from "../../src/util/units.js";
import { newState } from "../harness.js";

it.each([
  ["none", undefined],
  ["an ordinary one", 7],
  ["one that cannot be increased", 2 ** 53],
  ["the largest", 1e308],
])("simultaneous writes of an owner keep to its limit with this revision: %s", async (_, revision) => {
  const state = newState();
  if (revision !== undefined) await state.commit([state.open(ownerRevisions).put("guild:1", { revision })]);
  const kept = state.open(watchers);
  const writeOne = (id: string) =>
    commitWithin(state, "guild:1", async () => {
      if ((await kept.list()).size >= 5) throw new PersonError("The limit is reached.");
      return [kept.put(id, { channelId: id })];
    }).catch((error: unknown) => {
      if (!(error instanceof PersonError)) throw error;
    });
  await Promise.all(Array.from({ length: 30 }, (_, at) => writeOne(String(at))));
  expect((await kept.list()).size).toBe(5);
  await state.close();
});

it.each<[string, { readonly at?: number }, boolean]>([
  ["deletes one of a day ago", { at: -DAY - MINUTE }, false],
  ["deletes one of an earlier version, which has no time", {}, false],
  ["deletes one of a wrong clock", { at: 90 * DAY }, false],
  ["keeps a recent one", { at: -DAY + MINUTE }, true],
])("the daily housekeeping of revisions %s", async (_, { at }, isKept) => {
  const [state, now] = [newState(), Date.now()];
  const revisions = state.open(ownerRevisions);
  const written = at === undefined ? {} : { at: now + at };
  await state.commit([revisions.put("guild:1", { revision: 3, ...written })]);
  await forgetOldRevisions(state, now);
  expect((await revisions.get("guild:1"))?.revision).toBe(isKept ? 3 : undefined);
  await state.close();
});

it("a revision that was written today is kept by the housekeeping", async () => {
  const state = newState();
  await commitWithin(state, "guild:1", async () => []);
  await forgetOldRevisions(state);
  expect(await state.open(ownerRevisions).get("guild:1")).toMatchObject({ revision: 1 });
  await state.close();
});
