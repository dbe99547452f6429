import { afterAll, beforeAll, it } from "vitest";
import { DAY, HOUR } from "../../../src/util/units.js";
import { type Harness, startHarness } from "../../harness.js";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ env: () => ({ GOVERNANCE_POLL_SECONDS: "1" }) });
});
afterAll(() => harness.close());

it("a forum's post that was locked when news came still shows the outcome at the end", async () => {
  const { world, driver, guild, people, channels } = harness.discord;
  const { ledger } = harness.explorer;
  const forum = world.addChannel({ type: 15, guild_id: guild.id, name: "forum" });
  const here = { user: people.owner, channel: channels.general };
  await driver.ask(here, "/subscribe governance", { channel: forum.id });
  const request = ledger.openVoteRequest({ title: "Locked", lastsMs: 3 * DAY, effectiveInMs: 4 * DAY });
  const posts = () => [...world.channels.values()].filter(({ parent_id }) => parent_id === forum.id);
  const [first] = await world.until(() => {
    const found = posts();
    return found[0] && world.read(found[0]).length === 1 ? found : undefined;
  }, "a post");
  if (!first) throw new Error("There is no post");
  const lock = (locked: boolean) => {
    if (first.thread_metadata) Object.assign(first.thread_metadata, { locked, archived: locked });
  };
  lock(true);
  for (let count = 0; count < 12; count += 1) ledger.castVote(request, true);
  await world.until(() => posts().length === 2, "a second post");
  lock(false);
  ledger.decideVoteRequest(request, "Accepted");
  // A refused edit is tried again after an hour.
  await harness.pass(2 * HOUR);
  await world.until(
    () => world.read(first)[0]?.content.includes("Accepted"),
    "the outcome in the first post",
  );
  const second = posts().find(({ id }) => id !== first.id);
  await world.until(() => second?.thread_metadata?.archived, "the second post, archived");
});
