import { problemIs } from "../explorer/errors.js";
import { PersonError } from "../util/person-error.js";
import { present } from "../util/present.js";
import { type ScreenAddress, type ScreenName, withParameter } from "./addresses.js";
import { contract, contracts, token } from "./contracts.js";
import { event, events } from "./events.js";
import { help } from "./help.js";
import { lookup } from "./lookup.js";
import { network } from "./network.js";
import { overview } from "./overview.js";
import { parties, party, top } from "./parties.js";
import { price } from "./price.js";
import { proposals } from "./proposals.js";
import { rewards } from "./rewards.js";
import { transfer, transfers } from "./transfers.js";
import { update, updates } from "./updates.js";
import { validator } from "./validator.js";
import { newcomers, validators } from "./validators.js";
import { versions } from "./versions.js";
import type { Screen, ScreenContext, View } from "./view.js";
import { voteRequest } from "./vote-request.js";
import { voter, voters } from "./voters.js";
import { votes } from "./votes.js";

const screens: { readonly [Name in ScreenName]: Screen<Name> } = {
  price,
  network,
  validators,
  overview,
  newcomers,
  versions,
  validator,
  parties,
  top,
  party,
  rewards,
  proposals,
  voteRequest,
  votes,
  voters,
  voter,
  transfers,
  transfer,
  token,
  contracts,
  contract,
  events,
  event,
  updates,
  update,
  lookup,
  help,
};

/**
 * A screen and its final address, which may differ from the requested one: a detour leads elsewhere, or a list has become
 * shorter.
 */
export interface OpenedScreen {
  readonly view: View;
  readonly address: ScreenAddress;
}

/** Messages for unknown ids, by the screen that was requested. */
const MISSING: Partial<Record<ScreenName, string>> = {
  validator:
    "Can't find a validator with that id or name. A validator's id is its party id, like `name::1220…`. `/validator list` shows them.",
  party:
    "Can't find a party with that id or name. A party's id looks like `name::1220…`. `/party list` shows some.",
  rewards: "Can't find rewards for that id. A party's id looks like `name::1220…`. `/party list` shows some.",
  voteRequest: "Can't find a vote request with that id or title. `/proposals list` shows them.",
  votes: "Can't find a vote request with that id or title. `/proposals list` shows them.",
  token:
    "Can't find a token with that contract id or name. Paste the id of the contract that describes the token. Names work only for tokens opened before.",
  contract:
    "Can't find a contract with that id. Contract ids have 138 characters. `/contract list` shows some.",
  event:
    "Can't find an event with that id. An event's id is an update id followed by `:` and a number. `/event list` shows some.",
  transfer: "Can't find that transfer. `/transfers` shows the newest.",
  update: "Can't find an update with that id. Update ids have 68 characters. `/update list` shows some.",
  lookup:
    "Can't find that. Paste a full id (of a party, contract, update, event or vote request), a link or a name.",
};

/** Appends the buttons that watch what a screen shows, and those that subscribe the channel. */
function withWatchLinks(view: View, { screen, parameters }: ScreenAddress, context: ScreenContext): View {
  const { watchedAs = "id" in parameters ? parameters.id : "", isOver, links = [] } = view;
  if (watchedAs === null) return view;
  const watchLinks = isOver ? [] : context.watchLinks(screen, watchedAs);
  const allLinks = [...watchLinks, ...context.subscribeLinks(screen, watchedAs)];
  return allLinks.length === 0 ? view : { ...view, links: [...links, ...allLinks] };
}

/** Loads the view at an address, and follows detours. */
async function loadScreen(to: ScreenAddress, context: ScreenContext): Promise<OpenedScreen> {
  // The type of the lookup does not link a screen's name to its parameters, as ScreenAddress does.
  const openOne = screens[to.screen] as Screen<ScreenName>;
  const view = await openOne(to.parameters as never, context);
  if (!("to" in view)) {
    const finalAddress = view.pager ? (withParameter(to, "page", view.pager.page) ?? to) : to;
    return { view: withWatchLinks(view, to, context), address: finalAddress };
  }
  const openedScreen = await loadScreen(view.to, context);
  return {
    ...openedScreen,
    view: {
      ...openedScreen.view,
      body: present([view.note, ...(openedScreen.view.body ?? [])]),
    },
  };
}

/**
 * Loads and renders the screen at an address.
 * @throws {PersonError} if the requested thing does not exist
 * @throws {ExplorerError}
 */
export async function openScreen(to: ScreenAddress, context: ScreenContext): Promise<OpenedScreen> {
  try {
    return await loadScreen(to, context);
  } catch (error) {
    const sentence = MISSING[to.screen === "lookup" ? to.parameters.of : to.screen];
    if (!problemIs("missing")(error) || !sentence) throw error;
    throw new PersonError(sentence, "missing");
  }
}
