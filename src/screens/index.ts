import type { Address, ScreenName } from "./addresses.js";
import { withParameter } from "./addresses.js";
import { c, contracts, t } from "./contracts.js";
import { event, events } from "./events.js";
import { help } from "./help.js";
import { lookup } from "./lookup.js";
import { network } from "./network.js";
import { parties, party, rewards, top } from "./parties.js";
import { price } from "./price.js";
import { proposals, vr, vv } from "./proposals.js";
import { transfers } from "./transfers.js";
import { update, updates } from "./updates.js";
import { newcomers, validator, validators } from "./validators.js";
import { versions } from "./versions.js";
import type { Screen, ScreenContext, View } from "./view.js";

const screens: { readonly [Name in ScreenName]: Screen<Name> } = {
  price,
  network,
  validators,
  newcomers,
  versions,
  validator,
  parties,
  top,
  party,
  rewards,
  proposals,
  vr,
  vv,
  transfers,
  t,
  contracts,
  c,
  events,
  event,
  updates,
  update,
  lookup,
  help,
};

/** A screen, and where it really is: a detour may have led elsewhere, and a list may have become shorter. */
export interface Opened {
  readonly view: View;
  readonly at: Address;
}

/** Loads and renders the screen at an address. @throws {ExplorerError} */
export async function openScreen(to: Address, context: ScreenContext): Promise<Opened> {
  // An address's name and parameters belong together (Address); the lookup loses that.
  const open = screens[to.screen] as Screen<ScreenName>;
  const view = await open(to.parameters as never, context);
  if ("to" in view) {
    const opened = await openScreen(view.to, context);
    return { ...opened, view: { ...opened.view, body: [view.note, ...(opened.view.body ?? [])] } };
  }
  return { view, at: view.pager ? (withParameter(to, "page", view.pager.page) ?? to) : to };
}
