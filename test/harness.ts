import { newDataDir } from "../sandbox/bot-process.js";
import { makeStack, type Stack, type StackOptions } from "../sandbox/stack.js";
import { createLinks } from "../src/discord/links.js";
import type { Log } from "../src/log.js";
import { openFileStore } from "../src/storage/file-store.js";
import { createState, type State } from "../src/storage/state.js";

/** A small ledger: fast to make, and with more than one page of everything. */
export const SMALL = {
  validators: 45,
  parties: 120,
  voteRequests: 25,
  superValidators: 13,
  updates: 60,
  tokens: 3,
};

/** The built bot between the two sandboxes. */
export type Harness = Stack;

/** Starts both sandboxes and the bot; nothing happens on the ledger by itself. */
export async function startHarness({
  explorer,
  second,
  discord,
  env = () => ({}),
}: StackOptions = {}): Promise<Harness> {
  const place = await makeStack({
    ...(discord ? { discord } : {}),
    explorer: { size: SMALL, lively: false, ...explorer },
    ...(second ? { second: { size: SMALL, lively: false, ...second } } : {}),
    env: (discord) => ({ EXPLORER_REQUESTS_PER_MINUTE: "6000", ...env(discord) }),
  });
  await place.start();
  return place;
}

/** What a message says, as one text: its content and its embeds. */
export const textOf = (message: { content: string; embeds: object[] }): string =>
  JSON.stringify([message.content, message.embeds]);

/** A log that keeps quiet. */
export const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** A state in a new folder. */
export const newState = (): State => createState(openFileStore(newDataDir()), { log: quiet });

/** Addresses as text, with ids that do not fit kept in a Map. */
export function newLinks(network?: string) {
  const ids = new Map<string, string>();
  const keys = {
    remember: (key: string, id: string) => void ids.set(key, id),
    hold() {},
    resolve: async (key: string) => ids.get(key),
  };
  return { ids, ...createLinks(keys, () => network) };
}
