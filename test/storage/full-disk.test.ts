import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { DiscordError } from "../../sandbox/discord/errors.js";
import { startHarness, textOf } from "../harness.js";
import { describeWithLimits } from "../needs.js";

const CHANNELS = 20;

describeWithLimits("a full disk", () => {
  it("is logged once, does not block answers, and loses nothing", async () => {
    const harness = await startHarness({ env: () => ({ GOVERNANCE_POLL_SECONDS: "1" }) });
    const { world, driver, people, channels, guild } = harness.discord;
    const { ledger } = harness.explorer;
    const owner = { user: people.owner, channel: channels.general };
    const told = Array.from({ length: CHANNELS }, (_, at) =>
      world.addChannel({ type: 0, guild_id: guild.id, name: `channel-${at}` }),
    );
    for (const { id } of told) await driver.ask(owner, "/subscribe governance", { channel: id });
    const messages = (title: string) =>
      told.map(
        (channel) => world.read(channel).filter((each) => textOf(each).includes(`: ${title}"`)).length,
      );
    const lines = () =>
      harness
        .bot()
        .output()
        .split("\n")
        // A busy machine delays polls, which is logged, too.
        .filter((line) => /"level":"(warn|error)"/.test(line) && !line.includes("its interval"));
    const limit = (bytes: string) =>
      spawnSync("prlimit", ["--pid", String(harness.bot().child.pid), `--fsize=${bytes}:unlimited`]);
    const polls = () =>
      harness.explorer.requests.filter(({ path }) => path.endsWith("/vote-requests")).length;

    // Each channel's first message fails, so that it still waits for its retry while the disk is full.
    const error = new DiscordError(500, 0, "Internal Server Error");
    harness.discord.trap({ method: "POST", path: /^\/channels/, times: CHANNELS, error });
    ledger.openVoteRequest({ title: "Before" });
    await world.until(() => lines().length >= CHANNELS, "the first failures");
    limit("1");
    await world.until(() => lines().some((line) => line.includes("cannot be written")), "the full disk");
    const said = lines().length;
    const before = polls();
    ledger.openVoteRequest({ title: "Meanwhile" });
    await world.until(() => polls() > before + 4, "some polls");
    expect(textOf(await driver.ask(owner, "/price"))).toContain("USD");
    expect(textOf(await driver.ask(owner, "/subscribe governance"))).toContain("I can't reach my storage");
    expect(lines().length - said).toBeLessThan(3);
    expect(messages("Meanwhile")).toEqual(told.map(() => 0));

    limit("unlimited");
    const all = () => [...messages("Before"), ...messages("Meanwhile")];
    await world.until(() => all().every((count) => count > 0), "everything that waited");
    expect(all()).toEqual([...told, ...told].map(() => 1));
    expect(harness.bot().output()).toContain("The state can be written again");
    await harness.close();
  });
});
