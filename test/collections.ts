import { deliveryCollections } from "../src/delivery/collections.js";
import { collectionsOf } from "../src/delivery/module.js";
import { directoryCollections } from "../src/directory/collections.js";
import { registrations } from "../src/discord/registration.js";
import { feeds, withOperator } from "../src/feeds/index.js";
import { activities, rhythms } from "../src/ledger/network-rhythm.js";
import { priceSamples } from "../src/ledger/price-history.js";
import { rounds } from "../src/ledger/rounds.js";
import { networkChoices } from "../src/networks/choices.js";
import { longIds } from "../src/storage/id-keys.js";
import { leases } from "../src/storage/lease.js";
import { networkNames } from "../src/storage/networks.js";
import { stateVersion, unreadableDocuments } from "../src/storage/state.js";

/** Every collection that the bot writes. */
export const allCollections = [
  ...deliveryCollections,
  ...directoryCollections,
  ...collectionsOf(withOperator(feeds)),
  activities,
  rhythms,
  priceSamples,
  rounds,
  networkChoices,
  registrations,
  longIds,
  leases,
  networkNames,
  stateVersion,
  unreadableDocuments,
];
