import type { Address, ScreenName } from "./addresses.js";
import { parties, party, rewards, top } from "./parties.js";
import { price } from "./price.js";
import { proposals, vr, vv } from "./proposals.js";
import { newcomers, validator, validators } from "./validators.js";
import type { Screen, ScreenContext, View } from "./view.js";

const screens: { readonly [Name in ScreenName]: Screen<Name> } = {
  price,
  validators,
  newcomers,
  validator,
  parties,
  top,
  party,
  rewards,
  proposals,
  vr,
  vv,
};

/** Loads and renders the screen at an address. @throws {ExplorerError} */
export function openScreen({ screen, parameters }: Address, context: ScreenContext): Promise<View> {
  // An address's name and parameters belong together (Address); the lookup loses that.
  const open = screens[screen] as Screen<ScreenName>;
  return open(parameters as never, context);
}
