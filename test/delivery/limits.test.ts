import { expect, it } from "vitest";
import { ownerRevisions, watchers } from "../../src/delivery/collections.js";
import { commitWithin } from "../../src/delivery/limits.js";
import { PersonError } from "../../src/util/person-error.js";
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
