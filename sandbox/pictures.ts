import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Message } from "./discord/world.js";
import { makeStack, type Stack } from "./stack.js";

/** Where the documents' pictures are. */
export const PICTURES = fileURLToPath(new URL("../docs/pictures", import.meta.url));
const FILE = join(PICTURES, "structure.json");

/** What a message is made of, besides what changes from day to day. */
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

/** What a picture of a message shows, by which a test knows whether it still does. */
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

/** Keeps what the pictures show, beside them. */
export const keepStructures = (shown: Structures): void =>
  writeFileSync(FILE, `${JSON.stringify(shown, null, 2)}\n`);

/** What the pictures showed when they were made. */
export const keptStructures = (): Structures => JSON.parse(readFileSync(FILE, "utf8")) as Structures;

/** The place that the pictures are made in: nothing happens there by itself. */
export const makePictureStack = (): Promise<Stack> =>
  makeStack({
    explorer: { lively: false },
    env: ({ channels }) => ({
      GOVERNANCE_CHANNEL_ID: channels.governance.id,
      GOVERNANCE_POLL_SECONDS: "1",
      WATCH_POLL_SECONDS: "2",
      EXPLORER_REQUESTS_PER_MINUTE: "6000",
    }),
  });

/** Opens the vote request of the picture, has six votes cast on it, and waits until its announcement shows them. */
export async function announce({ explorer, discord, pass }: Stack): Promise<Message> {
  const { world, channels } = discord;
  // The first read takes what is there as known.
  const reads = () => explorer.requests.filter(({ path }) => path.endsWith("/vote-requests")).length;
  await world.until(() => reads() >= 4, "the first read of the vote requests", 20_000);
  const request = explorer.ledger.openVoteRequest({ motion: "dsoConfig", effectiveInMs: null });
  const announced = () => world.read(channels.governance).at(-1);
  await world.until(announced, "the announcement", 20_000);
  for (let votes = 0; votes < 6; votes += 1) explorer.ledger.castVote(request, votes !== 2);
  // An announcement shows a new tally at most every five minutes.
  pass(6 * 60_000);
  return world.until(
    () => (JSON.stringify(announced()?.embeds).includes("**6** yes") ? announced() : undefined),
    "the tally",
    20_000,
  );
}
