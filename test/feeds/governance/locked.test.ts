import { afterAll, beforeAll, expect, it } from "vitest";
import { DAY, HOUR } from "../../../src/util/units.js";
import { type Harness, startHarness } from "../../harness.js";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ env: () => ({ GOVERNANCE_POLL_SECONDS: "1" }) });
});
afterAll(() => harness.close());

it("a forum's post about several requests stays open while one of them is", async () => {
  const { world, driver, guild, people, channels } = harness.discord;
  const { ledger } = harness.explorer;
  const forum = world.addChannel({ type: 15, guild_id: guild.id, name: "several" });
  await driver.ask({ user: people.owner, channel: channels.general }, "/subscribe governance", {
    channel: forum.id,
  });
  const requests = [1, 2, 3, 4, 5].map((number) => ledger.openVoteRequest({ title: `Several ${number}` }));
  const post = () => [...world.channels.values()].find(({ parent_id }) => parent_id === forum.id);
  const told = () => {
    const found = post();
    return found ? world.read(found).map(({ content }) => content) : [];
  };
  await world.until(() => told().some((text) => text.includes("5 new vote requests")), "the post");
  if (requests[0]) ledger.closeVoteRequest(requests[0], "Rejected");
  await world.until(() => told().some((text) => text.includes("Rejected: Several 1")), "the outcome");
  const next = ledger.openVoteRequest({ title: "A later one" });
  await world.until(
    () => [...world.channels.values()].some(({ name }) => name.includes("A later one")),
    "the next post",
  );
  expect(post()?.thread_metadata?.archived).toBe(false);
  ledger.closeVoteRequest(next, "Rejected");
});

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
