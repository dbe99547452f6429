import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { startChromium } from "./chromium.js";
import { measureHeights } from "./heights.js";
import { givePrices } from "./history.js";
import { alertOps, announce, keepStructures, makePictureStack, PICTURES, structureOf } from "./pictures.js";
import { servePage } from "./web/server.js";
import { typeCommand } from "./web/typist.js";

/** Writes the README's pictures from the sandbox's page into docs/pictures, and the heights of messages into docs/heights.md. */

mkdirSync(PICTURES, { recursive: true });

const place = await makePictureStack();
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

/** Types a command with its options, and waits for the expected text. */
async function ask(command: string, options: Readonly<Record<string, string>>, shows: string): Promise<void> {
  await typeCommand(page, command, options);
  await last().getByText(shows).first().waitFor();
}

const { world, channels } = place.discord;
const shown: Record<string, ReturnType<typeof structureOf>> = {};
const ofMessage = async (name: string, channel = channels.general) => {
  await last().scrollIntoViewIfNeeded();
  await last().screenshot({ path: join(PICTURES, `${name}.png`) });
  const message = world.read(channel).at(-1);
  if (message) shown[name] = structureOf(message);
};

// Autocompletion needs the lists of names. This one is read last.
const hasNames = () => place.explorer.requests.some(({ path }) => path.endsWith("/parties/top"));
await world.until(hasNames, "the names");

await ask("validator show", { validator: "quartz" }, "last report");
await ofMessage("answer");
// Make room for a long list.
await page.setViewportSize({ width: 1_180, height: 1_400 });
await ask("validator list", {}, "overview");
await ofMessage("list");
await page.setViewportSize({ width: 1_180, height: 1_020 });
await ask("price", {}, "USD");
await last().locator("img.discord-embed-image").waitFor();
await ofMessage("chart");

await page.getByRole("navigation").getByRole("button", { name: "governance" }).click();
await announce(place);
await last().getByText("yes").first().waitFor();
await ofMessage("announcement", channels.governance);
await page.screenshot({ path: join(PICTURES, "page.png") });

const alert = await alertOps(place);
await page.getByRole("navigation").getByRole("button", { name: "ops" }).first().click();
await last().getByText("no report for").first().waitFor();
await ofMessage("alert", world.channel(alert.channel_id));
keepStructures(shown);
await measureHeights(browser, served.url, place);

await browser.close();
await served.close();
await place.close();
console.log(`The pictures are in ${PICTURES}`);
process.exit(0);
