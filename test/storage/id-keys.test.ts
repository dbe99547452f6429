import { describe, expect, it } from "vitest";
import { openFileStore } from "../../src/storage/file-store.js";
import { createIdKeys, forgetOldIds, keyOf, longIds } from "../../src/storage/id-keys.js";
import { createState, type State } from "../../src/storage/state.js";
import { newState, quiet, startHarness, textOf } from "../harness.js";

const DAY = 86_400_000;
const LONG = `${"a-very-long-hint-".repeat(8)}::1220${"ab".repeat(32)}`;
const KEY = keyOf(LONG);

/** Creates id keys on a state, with a clock that the test controls. */
function keysOver(state: State) {
  let time = 21_000 * DAY;
  let writes = 0;
  const counting = {
    ...state,
    commit: (all: Parameters<State["commit"]>[0]) => {
      writes += all.length;
      return state.commit(all);
    },
  };
  return {
    keys: () => createIdKeys(counting, quiet, () => time),
    writes: () => writes,
    pass: (days: number) => {
      time += days * DAY;
    },
    forget: () => forgetOldIds(state, time),
    kept: async () => (await state.open(longIds).list()).size,
  };
}

describe("a long id", () => {
  it("is stored when a button shows it, and again only after a month", async () => {
    const { keys, writes, pass } = keysOver(newState());
    const first = keys();
    for (let time = 0; time < 5; time += 1) first.remember(KEY, LONG);
    await first.flush();
    expect(writes()).toBe(1);
    pass(29);
    first.remember(KEY, LONG);
    await first.flush();
    expect(writes()).toBe(1);
    pass(2);
    first.remember(KEY, LONG);
    await first.flush();
    expect(writes()).toBe(2);
    expect(await keys().resolve(KEY)).toBe(LONG);
  });

  it("is forgotten a year after it was last shown or pressed", async () => {
    const { keys, pass, forget, kept } = keysOver(newState());
    const before = keys();
    before.remember(KEY, LONG);
    await before.flush();
    pass(200);
    const pressed = keys();
    expect(await pressed.resolve(KEY)).toBe(LONG);
    await pressed.flush();
    pass(200);
    await forget();
    expect(await kept()).toBe(1);
    pass(200);
    await forget();
    expect(await kept()).toBe(0);
    expect(await keys().resolve(KEY)).toBeUndefined();
  });

  it("that version 1 wrote is kept for a year from now on", async () => {
    const state = newState();
    const { keys, pass, forget, kept } = keysOver(state);
    await state.commit([{ op: "put", collection: "ids", id: KEY, text: JSON.stringify(LONG) }]);
    await forget();
    pass(300);
    await forget();
    expect(await keys().resolve(KEY)).toBe(LONG);
    expect(await kept()).toBe(1);
  });

  it("that is only held in memory works, and is not stored", async () => {
    const { keys, kept } = keysOver(newState());
    const own = keys();
    own.hold(KEY, LONG);
    await own.flush();
    expect(await own.resolve(KEY)).toBe(LONG);
    expect(await kept()).toBe(0);
    own.remember(KEY, LONG);
    await own.flush();
    expect(await kept()).toBe(1);
  });

  it("that a person made up is not stored", async () => {
    const harness = await startHarness();
    const { driver, people, channels } = harness.discord;
    const ana = { user: people.ana, channel: channels.general };
    // The explorer returns an empty list for an unknown id, so that its screen is shown with buttons.
    const body = JSON.stringify({ content: [], totalElements: 0, totalPages: 0, number: 0, size: 100 });
    harness.explorer.injectFault({ kind: "body", body }, { path: /\/rewards\/a-very/ });
    const madeUp = await driver.ask(ana, "/party rewards", { party: LONG });
    expect(textOf(madeUp)).toContain("rewards for this party");
    await driver.click(ana, madeUp, "Refresh");
    expect(textOf(madeUp)).toContain("rewards for this party");
    // Only the first words are searched, so that several names match.
    const name = harness.explorer.ledger.validators.find(({ party }) => party.name)?.party.name ?? "";
    const [, word = ""] = name.split(" ");
    const typed = `${`${word} `.repeat(6)}${"x".repeat(200)}`;
    const which = async () => textOf(await driver.ask(ana, "/validator show", { validator: typed }));
    await expect.poll(which).toContain("Which one do you mean?");
    await harness.bot().stop();
    const state = createState(openFileStore(harness.dataDir), { log: quiet });
    expect((await state.open(longIds).list()).size).toBe(0);
    await state.close();
    await harness.close();
  });
});
