import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import type { Stack } from "./stack.js";
import { typeCommand } from "./web/typist.js";

const FILE = fileURLToPath(new URL("../docs/heights.md", import.meta.url));
/** Width of a phone, in CSS pixels. */
const PHONE_WIDTH = 390;

/** Messages with their maximum height, in CSS pixels. */
const GOALS = {
  "announcement of a vote": 600,
  "/proposals show": 700,
  "daily digest (a drill)": 650,
  "/validator list": 800,
  "/help": 700,
} as const;
type Measured = keyof typeof GOALS;

/**
 * Measures messages on the sandbox's page at a phone's width, and writes docs/heights.md. The vote request
 * must have been announced.
 */
export async function measureHeights(browser: Browser, url: string, { discord }: Stack): Promise<void> {
  const { world, driver, people, channels } = discord;
  const page = await browser.newPage({ viewport: { width: PHONE_WIDTH, height: 844 }, colorScheme: "dark" });
  await page.goto(url);
  const last = () => page.locator("discord-message").last();
  const heights = new Map<string, number>();
  const measure = async (name: Measured) =>
    heights.set(name, Math.round((await last().boundingBox())?.height ?? 0));
  const go = async (channel: string) => {
    await page.locator("nav summary").click();
    await page.getByRole("navigation").getByRole("button", { name: channel }).first().click();
  };
  const ask = async (
    command: Measured & `/${string}`,
    options: Readonly<Record<string, string>>,
    shows: RegExp,
  ) => {
    await typeCommand(page, command.slice(1), options);
    await last().getByText(shows).first().waitFor();
    await measure(command);
  };

  await go("general");
  await ask("/validator list", {}, /overview/);
  await ask("/proposals show", { proposal: "default voting" }, /Requested by/);
  await ask("/help", {}, /Look around/);
  const owner = { user: people.owner, channel: channels.general };
  await driver.ask(owner, "/subscribe digest", { every: "day" });
  await driver.ask(owner, "/subscribe test", { feed: "digest" });
  await world.until(
    () => world.read(channels.general).find(({ content }) => content.includes("digest")),
    "the digest",
  );
  await last()
    .getByText(/digest/)
    .first()
    .waitFor();
  await measure("daily digest (a drill)");
  await go("governance");
  await last()
    .getByText(/Requested by/)
    .first()
    .waitFor();
  await measure("announcement of a vote");
  await page.close();

  const rows = Object.entries(GOALS).map(
    ([name, goal]) => `| ${name.startsWith("/") ? `\`${name}\`` : name} | ${heights.get(name)} | ${goal} |`,
  );
  writeFileSync(
    FILE,
    `# Heights of messages

Height of messages on the sandbox's page at ${PHONE_WIDTH} pixels' width, in CSS pixels, with ordinary data. Written by
\`npm run screenshots\`. It depends on the fonts of the machine, so no test checks it.

| message | height | goal |
| --- | --- | --- |
${rows.join("\n")}
`,
  );
}
