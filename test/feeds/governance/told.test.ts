import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Channel, Message } from "../../../sandbox/discord/world.js";
import { DAY, HOUR, MINUTE } from "../../../src/util/units.js";
import { type Harness, startHarness, textOf } from "../../harness.js";

describe("a channel that subscribes to vote requests", () => {
  let harness: Harness;
  let channel: Channel;
  const world = () => harness.discord.world;
  const ledger = () => harness.explorer.ledger;
  const ask = (command: string, given: Record<string, string | boolean> = {}) => {
    const { driver, people, channels } = harness.discord;
    return driver.ask({ user: people.owner, channel: channels.general }, command, given);
  };
  const reads = () => harness.explorer.requests.filter(({ path }) => path.endsWith("/vote-requests")).length;
  const polls = async (count = 2) => {
    const before = reads();
    await world().until(() => reads() > before + count, `${count} polls`);
  };
  const about = (where: { id: string }, pattern: RegExp) =>
    world()
      .read(where as Channel)
      .filter((each) => pattern.test(textOf(each)));
  const until = (where: { id: string }, pattern: RegExp): Promise<Message> =>
    world().until(() => about(where, pattern)[0], String(pattern), 30_000);
  const inForum = (forum: Channel, pattern: RegExp) =>
    world().until(
      () =>
        [...world().channels.values()].find(
          (post) => post.parent_id === forum.id && about(post, pattern).length > 0,
        ),
      String(pattern),
      30_000,
    );
  const add = (name: string, type = 0) =>
    world().addChannel({ type, guild_id: harness.discord.guild.id, name });

  beforeEach(async () => {
    // The directory, which reads once a minute, reads every three seconds.
    harness = await startHarness({ env: () => ({ GOVERNANCE_POLL_SECONDS: "1", SANDBOX_HURRY: "20" }) });
    channel = add("votes");
  });
  afterEach(() => harness.close());

  const openWhileAway = async (count: number) => {
    await polls();
    await harness.bot().stop();
    await harness.pass(2 * HOUR);
    const opened = Array.from({ length: count }, (_, at) =>
      ledger().openVoteRequest({ title: `Motion ${at}`, motion: "feature" }),
    );
    const [first] = opened;
    if (!first) throw new Error("None");
    ledger().closeVoteRequest(first, "Rejected");
    await harness.start();
    return opened;
  };

  it("is not pinged for new requests that it switched off, only told the outcome among them", async () => {
    const role = world().addRole(harness.discord.guild, "Governance", 0n, { mentionable: true });
    const forum = add("forum", 15);
    await ask("/subscribe governance", { channel: channel.id, role: role.id, new: false });
    await ask("/subscribe governance", { channel: forum.id, new: false });
    const opened = await openWhileAway(4);
    const told = await until(channel, /Motion 0/);
    expect(textOf(told)).toContain("Opened and ended while I wasn't watching: Motion 0");
    expect(textOf(told)).toContain("❌ Rejected");
    expect(textOf(told)).not.toMatch(/Motion [123]/);
    expect(told.pings).toEqual([]);
    // Later outcomes do not belong to a message that does not name their request.
    const [, , third] = opened;
    if (third) ledger().closeVoteRequest(third, "Rejected");
    await inForum(forum, /Rejected: Motion 2/);
    const posts = [...world().channels.values()].filter(({ parent_id }) => parent_id === forum.id);
    expect(posts.map(({ name }) => name)).toEqual(["Vote requests that ended", "Motion 2"]);
  });

  it("has no open thread left after a corrected outcome, nor a post after an outcome", async () => {
    const forum = add("forum", 15);
    const old = ledger().openVoteRequest({ title: "Old one", motion: "feature", lastsMs: 3 * DAY });
    await polls();
    await ask("/subscribe governance", { channel: channel.id, thread: true });
    await ask("/subscribe governance", { channel: forum.id });
    await polls();
    const request = ledger().openVoteRequest({ title: "Corrected", motion: "feature", lastsMs: 3 * DAY });
    const announcement = await until(channel, /New vote request: Corrected/);
    const thread = await world().until(() => announcement.thread, "the thread");
    const isArchived = (of: Channel) => of.thread_metadata?.archived === true;
    ledger().closeVoteRequest(request, "Rejected");
    ledger().closeVoteRequest(old, "Rejected");
    await until(thread, /Rejected: Corrected/);
    await world().until(() => isArchived(thread), "the archived thread");
    request.status = "Accepted";
    await polls(3);
    await harness.pass(61 * MINUTE);
    await until(thread, /Corrected outcome/);
    await polls(3);
    expect(isArchived(thread)).toBe(true);
    const posts = [...world().channels.values()].filter(({ parent_id }) => parent_id === forum.id);
    expect(posts.map((post) => [post.name, isArchived(post)])).toEqual([
      ["Corrected", true],
      ["Old one", true],
    ]);
  });
});
