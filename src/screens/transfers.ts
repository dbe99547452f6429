import { ifAnswered } from "../explorer/errors.js";
import { openSlice, ROWS_PER_REQUEST, ROWS_PER_SCREEN } from "../explorer/paging.js";
import type { PartyRef } from "../explorer/schema/fields.js";
import type { Transfer } from "../explorer/schema/ledger.js";
import type { Explorer, Reading } from "../explorer/service.js";
import { TRANSFER_KINDS } from "../ledger/known-words.js";
import { readable } from "../ledger/readable.js";
import { hintOf } from "../text/ids.js";
import { codeBlock, coins, columnCoins, join, type Markdown, md } from "../text/markdown.js";
import { repeatedIn } from "../util/groups.js";
import { present } from "../util/present.js";
import { address, type ParametersOf } from "./addresses.js";
import {
  agedList,
  brief,
  happenedAt,
  happenedOn,
  namedLine,
  partyLines,
  partyMenu,
  row,
  rowMenu,
} from "./parts.js";
import { usdText } from "./price.js";
import type { Detour, Screen, View } from "./view.js";
import { currentPrice, usdOf } from "./worth.js";

/** Returns the names that several parties of these transfers share. */
function sharedNames(all: readonly Transfer[]): ReadonlySet<string | null> {
  const named = new Map(all.flatMap(rolesIn).map(({ partyId, accountName }) => [partyId, accountName]));
  return repeatedIn([...named.values()]);
}

/**
 * Names the first of several parties, or shows its id, and counts the others.
 * @param shared names that do not identify a party
 */
function oneOf(parties: readonly PartyRef[], shared: ReadonlySet<string | null>): Markdown {
  const [first] = parties;
  if (!first) return md`unknown`;
  const { accountName, partyId } = first;
  const isClear = accountName !== null && !shared.has(accountName);
  const name = isClear ? md`${brief(accountName)}` : namedLine(accountName, partyId);
  return parties.length === 1 ? name : md`${name} and ${parties.length - 1} more`;
}

function kindOf({ transferType }: Transfer): Markdown | false {
  if (transferType === null) return false;
  const kindWords =
    TRANSFER_KINDS.get(transferType.toLowerCase()) ?? brief(readable(transferType).toLowerCase());
  return kindWords !== "" && md`${kindWords}`;
}

/**
 * Formats an amount with its value in USD: "1,109 CC (about $168)". The explorer may give the price at the time of the transfer.
 * Otherwise the current price is used, and the text says so.
 */
function amountOf(
  { amount, amuletPrice }: Transfer,
  current: string | null,
  coinsOf: (amount: string | null) => Markdown,
): Markdown {
  const usd = usdOf(amount, amuletPrice ?? current);
  const aside = amuletPrice === null ? md` at the current price` : md``;
  return usd ? md`${coinsOf(amount)} (${usd}${aside})` : coinsOf(amount);
}

const toRow = (each: Transfer, current: string | null, shared: ReadonlySet<string | null>) =>
  row(
    join([md`**${amountOf(each, current, columnCoins)}**`, happenedAt(each.createdAt), kindOf(each)], " · "),
    md`-# ${oneOf(each.senders, shared)} → ${oneOf(each.receivers, shared)} · fee ${columnCoins(each.fee)}`,
  );

/** Returns the current price if any of the transfers lacks its own. */
const priceFor = async (explorer: Explorer, rows: readonly Transfer[]): Promise<string | null> =>
  rows.some(({ amuletPrice }) => amuletPrice === null) ? currentPrice(explorer) : null;

const nameOf = ([first]: readonly PartyRef[]): string =>
  first?.accountName ?? (first?.partyId ? hintOf(first.partyId) : "unknown");

const rolesIn = ({ senders, receivers }: Transfer) => [
  ...senders.map((party) => ({ ...party, role: "sends" })),
  ...receivers.map((party) => ({ ...party, role: "receives" })),
];

/** Lists transfers of coin by age. */
export const transfers: Screen<"transfers"> = async ({ order, page }, { explorer }) => {
  const reading = await openSlice((at) => explorer.transfers({ ...at, orderBy: order }), page);
  const { rows } = reading.data;
  const currentUsd = await priceFor(explorer, rows);
  const shared = sharedNames(rows);
  return agedList(reading, {
    thing: "transfer",
    order,
    toRow: (each) => toRow(each, currentUsd, shared),
    menus: [
      rowMenu(rows, "Open a transfer…", ({ eventId, amount, senders, receivers }) =>
        eventId === null
          ? undefined
          : {
              label: columnCoins(amount).toString(),
              hint: `${nameOf(senders)} → ${nameOf(receivers)}`,
              to: address("transfer", { id: eventId, order, page: reading.data.page }),
            },
      ),
      partyMenu(rows.flatMap(rolesIn)),
    ],
    turned: (by) => address("transfers", { order: by }),
  });
};

/** Maximum number of requests to find a transfer. New transfers move it down the list. */
const MAX_REQUESTS = 3;

/** Finds a transfer in its list, which is its only source. Returns why there is none. */
async function findTransfer(
  explorer: Explorer,
  { id, order, page }: ParametersOf<"transfer">,
): Promise<Reading<Transfer> | "missing" | "unanswered"> {
  const firstPage = Math.floor(((page - 1) * ROWS_PER_SCREEN) / ROWS_PER_REQUEST);
  for (let request = firstPage; request < firstPage + MAX_REQUESTS && request <= 50; request += 1) {
    const reading = await ifAnswered(
      explorer.transfers({ page: request, size: ROWS_PER_REQUEST, orderBy: order }),
    );
    if (!reading) return "unanswered";
    const foundTransfer = reading.data.content.find(({ eventId }) => eventId === id);
    if (foundTransfer) return { ...reading, data: foundTransfer };
    if (reading.data.last === true) break;
  }
  return "missing";
}

/** Shows a transfer: its amount, its parties and the event behind it. */
export const transfer: Screen<"transfer"> = async (parameters, { explorer }): Promise<View | Detour> => {
  const { id, order, page } = parameters;
  const reading = await findTransfer(explorer, parameters);
  if (typeof reading === "string") {
    const reason = reading === "missing" ? "didn't return this transfer" : "couldn't be read";
    return {
      to: address("event", { id }),
      note: md`-# The explorer's list ${reason}, so this is its ledger event.`,
    };
  }
  const shownTransfer = reading.data;
  const currentUsd = await priceFor(explorer, [shownTransfer]);
  const shared = sharedNames([shownTransfer]);
  return {
    title: md`${amountOf(shownTransfer, currentUsd, coins)}`,
    body: [
      md`from ${oneOf(shownTransfer.senders, shared)} to ${oneOf(shownTransfer.receivers, shared)}`,
      join([happenedOn(shownTransfer.createdAt), kindOf(shownTransfer)], " · "),
    ],
    fields: present([
      { name: "From", value: partyLines(shownTransfer.senders), inline: true },
      { name: "To", value: partyLines(shownTransfer.receivers), inline: true },
      { name: "Fee", value: coins(shownTransfer.fee), inline: true },
      shownTransfer.amuletPrice !== null && {
        name: "Price then",
        value: md`${usdText(shownTransfer.amuletPrice)}`,
        inline: true,
      },
      { name: "Event id", value: codeBlock(id) },
    ]),
    readings: [reading],
    menus: [partyMenu(rolesIn(shownTransfer))],
    links: [{ label: "Ledger event", emoji: "⚙️", to: address("event", { id }) }],
    explorerPage: { kind: "event", id },
    parent: address("transfers", { order, page }),
  };
};
