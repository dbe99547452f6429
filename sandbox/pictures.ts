import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Message } from "./discord/world.js";
import { makeStack, REPORT_MS, type Stack } from "./stack.js";

/** Folder of the documentation's pictures. */
export const PICTURES = fileURLToPath(new URL("../docs/pictures", import.meta.url));
const FILE = join(PICTURES, "structure.json");

/** Parts of a message that do not change from day to day. */
interface Structure {
  readonly title: string;
  readonly fields: readonly string[];
  readonly buttons: readonly string[];
  readonly menus: readonly string[];
  readonly hasPicture: boolean;
}

interface Embed {
  readonly title?: string;
  readonly fields?: readonly { readonly name: string }[];
  readonly image?: object;
}

/** Returns the structure of a message, with which a test checks if a picture is up to date. */
export function structureOf({ embeds, components }: Message): Structure {
  const [embed = {}] = embeds as Embed[];
  const parts = components.flatMap((row) => row.components);
  return {
    title: (embed.title ?? "").replace(/\d+/g, "0"),
    fields: (embed.fields ?? []).map(({ name }) => name),
    buttons: parts
      .filter(({ type }) => type === 2)
      .map(({ emoji, label = "" }) => [emoji?.name, label.replace(/\d+/g, "0")].filter(Boolean).join(" ")),
    menus: parts.filter(({ type }) => type === 3).map(({ placeholder = "" }) => placeholder),
    hasPicture: embed.image !== undefined,
  };
}

type Structures = Readonly<Record<string, Structure>>;

/** Stores the structures of the pictures next to them. */
export const keepStructures = (shown: Structures): void =>
  writeFileSync(FILE, `${JSON.stringify(shown, null, 2)}\n`);

/** Reads the stored structures of the pictures. */
export const keptStructures = (): Structures => JSON.parse(readFileSync(FILE, "utf8")) as Structures;

/** Creates the stack for the pictures, in which nothing happens automatically. */
export const makePictureStack = (): Promise<Stack> =>
  makeStack({
    jobsPerSecond: 5,
    explorer: { lively: false, reportMs: REPORT_MS },
    env: ({ channels }) => ({
      GOVERNANCE_CHANNEL_ID: channels.governance.id,
      GOVERNANCE_POLL_SECONDS: "1",
      WATCH_POLL_SECONDS: "2",
      EXPLORER_REQUESTS_PER_MINUTE: "6000",
    }),
  });

/** Silences a validator that #ops watches, and waits until the alert is posted. */
export async function alertOps({ explorer, discord, pass }: Stack): Promise<Message> {
  const { world, driver, people, guild, channels } = discord;
  const { validators } = explorer.ledger;
  const watched = validators.find(({ party }) => party.name === "Birch Custody");
  if (!watched) throw new Error("The ledger has no Birch Custody");
  const ops = world.addChannel({ type: 0, guild_id: guild.id, name: "ops" });
  const role = world.addRole(guild, "Operators", 0n, { mentionable: true }).id;
  const olga = { user: people.owner, channel: channels.general };
  await driver.ask(olga, "/subscribe validator", { validator: watched.party.id, channel: ops.id, role });
  const reads = () => explorer.requests.filter(({ path }) => path.endsWith("/validators")).length;
  const silenceMs = 2.3 * REPORT_MS;
  for (const ms of [0, REPORT_MS, REPORT_MS, REPORT_MS, silenceMs]) {
    await pass(ms);
    for (const each of validators)
      if (ms < silenceMs || each !== watched) explorer.ledger.setValidatorActive(each, true);
    const before = reads();
    await world.until(() => reads() > before + 1, "the validators' reports");
  }
  return world.until(() => world.read(ops).at(-1), "the alert");
}

/** Opens a vote request for the picture, casts six votes, and waits until the announcement shows them. */
export async function announce({ explorer, discord, pass }: Stack): Promise<Message> {
  const { world, channels } = discord;
  // The first read is the baseline and announces nothing.
  const reads = () => explorer.requests.filter(({ path }) => path.endsWith("/vote-requests")).length;
  await world.until(() => reads() >= 4, "the first read of the vote requests");
  const request = explorer.ledger.openVoteRequest({ motion: "dsoConfig", effectiveInMs: null });
  const announced = () => world.read(channels.governance).at(-1);
  await world.until(announced, "the announcement");
  for (let votes = 0; votes < 6; votes += 1) explorer.ledger.castVote(request, votes !== 2);
  // An announcement shows a new tally at most every five minutes.
  pass(6 * 60_000);
  return world.until(
    () => (JSON.stringify(announced()?.embeds).includes("**6** yes") ? announced() : undefined),
    "the tally",
  );
}
