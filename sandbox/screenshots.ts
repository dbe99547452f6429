import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startChromium } from "./chromium.js";
import { givePrices } from "./history.js";
import { makeStack } from "./stack.js";
import { servePage } from "./web/server.js";
import { typeCommand } from "./web/typist.js";

/** Writes the README's pictures from the sandbox's page, into docs/pictures. */

const folder = fileURLToPath(new URL("../docs/pictures", import.meta.url));
mkdirSync(folder, { recursive: true });

const place = await makeStack({
  explorer: { lively: false },
  env: ({ channels }) => ({
    GOVERNANCE_CHANNEL_ID: channels.governance.id,
    GOVERNANCE_POLL_SECONDS: "1",
    WATCH_POLL_SECONDS: "2",
    EXPLORER_REQUESTS_PER_MINUTE: "6000",
  }),
});
givePrices(place.dataDir, { prices: place.explorer.ledger.price });
const served = await servePage(place, { port: 0 });
const [browser] = await Promise.all([startChromium(), served.runBot(true)]);
const page = await browser.newPage({
  viewport: { width: 1_180, height: 1_020 },
  colorScheme: "dark",
  deviceScaleFactor: 1.5,
});
await page.goto(served.url);
await page.locator(".say").waitFor();

const last = () => page.locator("discord-message").last();

/** Types a command with its options, and waits for what it shows. */
async function ask(command: string, options: Readonly<Record<string, string>>, shows: string): Promise<void> {
  await typeCommand(page, command, options);
  await last().getByText(shows).first().waitFor();
}

const picture = (name: string) => ({ path: join(folder, name) });
const ofMessage = async (name: string) => {
  await last().scrollIntoViewIfNeeded();
  await last().screenshot(picture(name));
};

await ask("validator show", { validator: "quartz" }, "last seen");
await ofMessage("answer.png");
// A long list, whole.
await page.setViewportSize({ width: 1_180, height: 1_400 });
await ask("validator list", {}, "what needs a look");
await ofMessage("list.png");
await page.setViewportSize({ width: 1_180, height: 1_020 });
await ask("price", {}, "USD");
await last().locator("img.discord-embed-image").waitFor();
await ofMessage("chart.png");

const { ledger } = place.explorer;
const { world, channels } = place.discord;
await page.getByRole("navigation").getByRole("button", { name: "governance" }).click();
// The first read takes what is there as known.
const read = () => place.explorer.requests.filter(({ path }) => path.endsWith("/vote-requests")).length;
await world.until(() => read() >= 4, "the first read of the vote requests", 20_000);
const request = ledger.openVoteRequest({ motion: "dsoConfig", effectiveInMs: null });
await last().getByText("New vote request").first().waitFor();
for (let votes = 0; votes < 6; votes += 1) ledger.castVote(request, votes !== 2);
// An announcement shows a new tally at most every five minutes.
place.pass(6 * 60_000);
await world.until(
  () => JSON.stringify(world.read(channels.governance).at(-1)?.embeds).includes("**6** yes"),
  "the tally",
  20_000,
);
await last().getByText("yes").first().waitFor();
await ofMessage("announcement.png");
await page.screenshot(picture("page.png"));

await browser.close();
await served.close();
await place.close();
console.log(`The pictures are in ${folder}`);
process.exit(0);
