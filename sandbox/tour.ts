import { createInterface } from "node:readline/promises";
import type { Channel, Message } from "./discord/world.js";
import { makeStack, REPORT_MS } from "./stack.js";
import { draw, nameBy, rule } from "./terminal.js";

const place = await makeStack({
  explorer: { reportMs: REPORT_MS },
  env: ({ channels }) => ({
    GOVERNANCE_CHANNEL_ID: channels.governance.id,
    GOVERNANCE_POLL_SECONDS: "1",
    WATCH_POLL_SECONDS: "2",
    // The sandbox has no rate limit, and the tour should not wait for one.
    EXPLORER_REQUESTS_PER_MINUTE: "1200",
  }),
});
const { explorer, discord } = place;
const { driver, world, people, channels } = discord;
const here = { user: people.ana, channel: channels.general };

const terminal =
  process.stdin.isTTY && process.stdout.isTTY
    ? createInterface({ input: process.stdin, output: process.stdout })
    : undefined;
terminal?.on("SIGINT", async () => {
  console.log("\nThe tour ends here.");
  await place.close();
  process.exit(130);
});
let isFirst = true;

/** Waits for Enter in a terminal, and clears the screen. */
async function nextScreen(): Promise<void> {
  if (!terminal) return;
  if (!isFirst) await terminal.question("\nEnter goes on, Ctrl-C ends the tour. ");
  isFirst = false;
  console.clear();
}

/** Prints the title of a step, runs it and shows its message. Fails if the message does not match. */
async function step(title: string, work: () => Promise<Message>, expected: RegExp): Promise<Message> {
  await nextScreen();
  console.log(rule(title));
  const message = await work();
  console.log(draw(message));
  const text = JSON.stringify([message.content, message.embeds]);
  if (!expected.test(text)) throw new Error(`"${title}" should have shown ${expected}`);
  return message;
}

async function tour(): Promise<void> {
  await place.start();
  nameBy((id) => {
    const user = world.users.get(id);
    const role = discord.guild.roles.find((each) => each.id === id);
    return user?.global_name ?? user?.username ?? world.channels.get(id)?.name ?? role?.name;
  });
  console.log("The bot is at work on the sandbox: no token, no key, no Redis.");
  await step("Ana types /price", () => driver.ask(here, "/price"), /USD/);
  const list = await step("Ana types /validator list", () => driver.ask(here, "/validator list"), /active/);
  await step("…and opens the whole list", () => driver.click(here, list, "All validators"), /last report/);
  await step("…and turns the page", () => driver.click(here, list, "▶"), /last report/);
  const name = driver.components(list).find((each) => each.type === 3)?.options?.[0]?.label ?? "";
  await step(`…and opens ${name}`, () => driver.choose(here, list, name), /last report/);
  await step("…and goes to its party", () => driver.click(here, list, "Party"), /Party id/);
  await step("…and back again", () => driver.click(here, list, "Back"), /last report/);
  await step(
    "Ben presses a button on Ana's answer: he gets a copy",
    () => {
      return driver.click({ ...here, user: people.ben }, list, "Rewards");
    },
    /Rewards of/,
  );
  await step("Ana types /validator new", () => driver.ask(here, "/validator new"), /Newest/);
  await step("Ana types /party top", () => driver.ask(here, "/party top"), /Largest balances/);
  await step("Ana types /party list", () => driver.ask(here, "/party list"), /Parties/);
  await step("Ana types /network", () => driver.ask(here, "/network"), /validators active/);
  const transfers = await step("Ana types /transfers", () => driver.ask(here, "/transfers"), /Transfers/);
  await step("…and opens the first one", () => driver.choose(here, transfers, "CC"), /from .+ to/);
  await step("…and the event behind it", () => driver.click(here, transfers, "Ledger event"), /Event id/);
  await step("…and the update it belongs to", () => driver.click(here, transfers, "Update"), /Update id/);
  const choices = await driver.complete(here, "/lookup", "id", { id: "quarz" });
  console.log(rule('Ana types /lookup and "quarz": while she types she is offered'));
  console.log(choices.map((choice) => `  ${choice.name}`).join("\n"));
  const chosen = String(choices[0]?.value ?? "");
  await step("…and chooses the first", () => driver.ask(here, "/lookup", { id: chosen }), /That's a/);
  await step("Ana types /validator versions", () => driver.ask(here, "/validator versions"), /most common/);
  await step("Ana types /help", () => driver.ask(here, "/help"), /What I can do/);
  const proposals = await step(
    "Ana types /proposals list",
    () => driver.ask(here, "/proposals list"),
    /Vote requests/,
  );
  const open = driver.components(proposals).find((each) => each.type === 3)?.options?.[0]?.label ?? "";
  await step("…and opens the newest", () => driver.choose(here, proposals, open), /Quorum by/);
  await step("…and looks at its votes", () => driver.click(here, proposals, "Votes"), /Votes on/);
  await step(
    "An id that nobody has",
    () => driver.ask(here, "/party show", { party: "nobody::1220" }),
    /Can't find a party with that id/,
  );

  const owner = { user: people.owner, channel: channels.general };
  await step(
    "Olga, who manages the server, types /subscribe governance",
    () => driver.ask(owner, "/subscribe governance", { votes: true }),
    /Subscribed/,
  );

  await step("…and /setup", () => driver.ask(owner, "/setup"), /governance.*working/);

  // The first read is the baseline and announces nothing.
  const polls = () => explorer.requests.filter(({ path }) => path.endsWith("/vote-requests")).length;
  await world.until(() => polls() >= 4, "the first read of the vote requests");
  const request = explorer.ledger.openVoteRequest({ motion: "dsoConfig" });
  await step(
    "A vote request opens on the ledger: #governance is told",
    () => {
      return world.until(() => world.read(channels.governance).at(-1), "the announcement");
    },
    /New vote request/,
  );

  const find = (channel: Channel, pattern: RegExp) => () =>
    world.read(channel).find(({ content, embeds }) => pattern.test(JSON.stringify([content, embeds])));
  await world.until(find(channels.general, /New vote request/), "the announcement in #general");
  explorer.ledger.castVote(request, true);
  await step(
    "A super validator votes: #general is subscribed to votes",
    () => world.until(find(channels.general, / voted (yes|no) on /), "the vote"),
    /\*\* ✅/,
  );
  explorer.ledger.decideVoteRequest(request, "Accepted");
  await step(
    "The vote ends: the outcome is a reply…",
    () =>
      world.until(
        () => world.read(channels.governance).find(({ notified }) => /^✅ Accepted: /.test(notified)),
        "the outcome",
      ),
    /Accepted/,
  );
  await step(
    "…and stands in the announcement",
    () => world.until(find(channels.governance, /✅ Accepted: .*Requested by/), "the edit"),
    /✅ Accepted: /,
  );

  if (world.refusals.length > 0)
    throw new Error(`Discord would have refused: ${JSON.stringify(world.refusals)}`);
  console.log(rule("The tour is over, and every step was as it should be"));
}

/**
 * Plays a tour of the bot in the terminal.
 * @returns true if every step succeeded
 */
export async function playTour(): Promise<boolean> {
  try {
    await tour();
    return true;
  } catch (error) {
    console.error(error, `\nThe bot said:\n${place.bot().output()}`);
    return false;
  } finally {
    terminal?.close();
    await place.close();
  }
}
