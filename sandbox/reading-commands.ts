import type { Given } from "./discord/driver.js";
import type { Ledger } from "./explorer/ledger.js";
import type { Random } from "./explorer/random.js";

/** A command with random options. */
type ReadingCommand = readonly [command: string, given: () => Given];

/** Returns every command that only reads, with options from a ledger. */
export const readingCommands = (ledger: Ledger, random: Random): readonly ReadingCommand[] => [
  ["/price", () => ({ over: random.pick(["1d", "7d", "30d"]) })],
  ["/network", () => ({})],
  ["/help", () => ({})],
  ["/validator list", () => ({ status: random.pick(["ALL", "ACTIVE", "INACTIVE"]) })],
  ["/validator new", () => ({})],
  ["/validator versions", () => ({})],
  ["/validator show", () => ({ validator: random.pick(ledger.validators).party.id })],
  ["/party list", () => ({})],
  ["/party top", () => ({})],
  ["/party show", () => ({ party: random.pick(ledger.parties).id })],
  ["/party rewards", () => ({ party: random.pick(ledger.parties).id })],
  ["/proposals list", () => ({})],
  ["/proposals show", () => ({ proposal: random.pick(ledger.voteRequests).firstContractId })],
  ["/proposals votes", () => ({ proposal: random.pick(ledger.voteRequests).firstContractId })],
  ["/transfers", () => ({})],
  ["/contract list", () => ({})],
  ["/contract show", () => ({ contract: random.pick(ledger.contracts).contractId })],
  ["/event list", () => ({})],
  ["/event show", () => ({ event: random.pick(ledger.events).eventId })],
  ["/update list", () => ({})],
  ["/update show", () => ({ update: random.pick(ledger.updates).updateId })],
  ["/token show", () => ({ contract: random.pick(ledger.tokens).contractId })],
  ["/lookup", () => ({ id: random.pick(ledger.parties).id.slice(0, random.int(3, 90)) })],
];
