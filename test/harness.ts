import { makePlace, type Place, type PlaceOptions } from "../sandbox/place.js";

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
export type Harness = Place;

/** Starts both sandboxes and the bot; nothing happens on the ledger by itself. */
export async function startHarness({ explorer, env = () => ({}) }: PlaceOptions = {}): Promise<Harness> {
  const place = await makePlace({
    explorer: { size: SMALL, lively: false, ...explorer },
    env: (discord) => ({ EXPLORER_REQUESTS_PER_MINUTE: "6000", ...env(discord) }),
  });
  await place.start();
  return place;
}

/** What a message says, as one text: its content and its embeds. */
export const textOf = (message: { content: string; embeds: object[] }): string =>
  JSON.stringify([message.content, message.embeds]);
