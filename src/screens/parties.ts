import { ifAnswered } from "../explorer/errors.js";
import { openSlice } from "../explorer/paging.js";
import type { HoldingsSummary, PartyListItem } from "../explorer/schema/parties.js";
import { fingerprint, shortId } from "../text/ids.js";
import { codeBlock, coins, columnCoins, join, type Markdown, md } from "../text/markdown.js";
import { grouped } from "../text/numbers.js";
import { perObject } from "../util/per-object.js";
import { present } from "../util/present.js";
import { address } from "./addresses.js";
import { extent, happenedAt, happenedOn, namedLine, orNothing, partiesField, row, rowMenu } from "./parts.js";
import type { Choice, Field, Menu, Screen } from "./view.js";
import { AT_CURRENT_PRICE, currentPrice, usdOf } from "./worth.js";

const toRow = perObject((each: PartyListItem) =>
  row(
    md`${namedLine(each.partyName, each.partyAddress)}`,
    md`-# ${columnCoins(each.balance)} · first seen ${happenedAt(each.firstSeen)} · last active ${happenedAt(each.lastSeen)}`,
  ),
);

const toChoice = perObject(({ partyAddress, partyName }: PartyListItem): Choice | undefined =>
  partyAddress === null
    ? undefined
    : {
        label: partyName ?? shortId(partyAddress),
        hint: partyName === null ? undefined : fingerprint(partyAddress),
        to: address("party", { id: partyAddress }),
      },
);

const openMenu = (rows: readonly PartyListItem[]): Menu => rowMenu(rows, "Open a party…", toChoice);

const SORTS = { LAST_ACTIVITY_AT: "last activity", FIRST_SEEN_AT: "first-seen date" } as const;
const ORDERS = { DESC: "newest first", ASC: "oldest first" } as const;

/** Lists parties by activity or age. */
export const parties: Screen<"parties"> = async ({ sort, order, page }, { explorer }) => {
  const reading = await openSlice((at) => explorer.parties({ ...at, sortBy: sort, orderBy: order }), page);
  const sorts = ["LAST_ACTIVITY_AT", "FIRST_SEEN_AT"] as const;
  const orders = ["DESC", "ASC"] as const;
  return {
    title: md`Parties by ${SORTS[sort]}, ${ORDERS[order]}`,
    body: [
      ...orNothing(reading.data.rows.map(toRow), "parties"),
      md``,
      md`-# ${extent(reading.data, "party", "parties")}`,
    ],
    readings: [reading],
    pager: reading.data,
    menus: [
      openMenu(reading.data.rows),
      {
        placeholder: "Sort…",
        choices: sorts.flatMap((by) =>
          orders.map((each) => ({
            label: `By ${SORTS[by]}, ${ORDERS[each]}`,
            to: address("parties", { sort: by, order: each }),
            chosen: by === sort && each === order,
          })),
        ),
      },
    ],
    links: [{ label: "Largest balances", emoji: "🏆", to: address("top", {}) }],
  };
};

/** Lists the parties with the largest balances. */
export const top: Screen<"top"> = async ({ page }, { explorer }) => {
  const [reading, price] = await Promise.all([
    openSlice((at) => explorer.topParties({ ...at, orderBy: "DESC" }), page),
    currentPrice(explorer),
  ]);
  // The position of a row that cannot be read is not known, and so are no ranks of its page.
  const rankOf = (index: number) =>
    reading.data.unreadable ? md`` : md`${(reading.data.page - 1) * 10 + index + 1}\\. `;
  return {
    title: md`Largest balances`,
    body: [
      ...orNothing(
        reading.data.rows.map((each, index) =>
          row(
            md`${rankOf(index)}**${columnCoins(each.balance)}**`,
            join([md`-# ${namedLine(each.partyName, each.partyAddress)}`, usdOf(each.balance, price)], " · "),
          ),
        ),
        "parties",
      ),
      md``,
      join([md`-# ${extent(reading.data, "party", "parties")}`, price !== null && AT_CURRENT_PRICE], " · "),
    ],
    readings: [reading],
    pager: reading.data,
    menus: [openMenu(reading.data.rows)],
    links: [{ label: "All parties", emoji: "📋", to: address("parties", {}) }],
  };
};

/**
 * Returns fields for the unlocked and the locked part of a balance. The available coin and the holding fees have no meaning since
 * Splice 0.6.3 (docs/ledger.md).
 */
function balanceFields({
  total_coin_holdings: total,
  total_unlocked_coin: unlocked,
  total_locked_coin: locked,
}: HoldingsSummary): Field[] {
  if (locked === "0" && (total !== null || unlocked === null)) return [];
  if (locked === null && (unlocked === null || unlocked === total)) return [];
  const field = (name: string, amount: string | null) => ({ name, value: coins(amount), inline: true });
  return [field("Unlocked", unlocked), field("Locked", locked)];
}

/** Returns a party's balance as a heading, or says that it is unknown. */
function balanceWords(balance: HoldingsSummary | undefined): Markdown {
  if (!balance) return md`The explorer has no balance for this party.`;
  const { total_coin_holdings: total } = balance;
  return total === null ? md`The explorer doesn't give the total balance.` : md`# ${coins(total)}`;
}

/** Shows a party: its kind, its balance and its activity. */
export const party: Screen<"party"> = async ({ id }, { explorer }) => {
  const [reading, types, price] = await Promise.all([
    explorer.party({ partyId: id }),
    ifAnswered(explorer.partyTypes({ partyId: id })),
    currentPrice(explorer),
  ]);
  const detail = reading.data;
  const { summaries } = detail.holdingsSummaryResponse;
  const balance = summaries.find((summary) => summary.party_id === (detail.partyId ?? id));
  const usd = usdOf(balance?.total_coin_holdings ?? null, price);
  const isKnown = types !== undefined && Object.values(types.data).every((flag) => flag !== null);
  const kinds = present([
    types?.data.isSv && "super validator",
    types?.data.isValidator && "validator",
    types?.data.isAccount && "account",
  ]);
  const unknownKind = types ? "kind unknown" : "couldn't read the kind right now";
  const noKind = isKnown ? "not a validator or known account" : unknownKind;
  return {
    title: md`${detail.accountName ?? shortId(detail.partyId ?? id)}`,
    thumbnail: detail.imageUrl,
    body: present([
      balanceWords(balance),
      usd && md`${usd} at the current price`,
      md`${kinds.length > 0 ? kinds.join(", ") : noKind}`,
    ]),
    fields: [
      ...(balance
        ? [
            ...balanceFields(balance),
            {
              name: "Balance as of",
              value: happenedOn(balance.record_time ?? detail.holdingsSummaryResponse.record_time),
              inline: true,
            },
          ]
        : []),
      {
        name: "Last seen",
        value: md`${happenedOn(detail.lastSeenRoundTimestamp)}${
          detail.lastSeenRound === null ? md`` : md`, round ${grouped(detail.lastSeenRound)}`
        }`,
        inline: true,
      },
      { name: "Created", value: happenedOn(detail.createdAt), inline: true },
      ...partiesField(
        "Created by",
        detail.creator?.partyId || detail.creator?.accountName ? [detail.creator] : [],
      ),
      { name: "Party id", value: codeBlock(detail.partyId ?? id) },
    ],
    // A party's kind hardly ever changes, so that its age would mislead.
    readings: types?.problem ? [reading, types] : [reading],
    links: present([
      { label: "Rewards", emoji: "🏅", to: address("rewards", { id }) },
      types?.data.isValidator || types?.data.isSv
        ? { label: "Validator", emoji: "🖥️", to: address("validator", { id }) }
        : undefined,
      detail.creator?.partyId && detail.creator.partyId !== id
        ? { label: "Creator", emoji: "🪪", to: address("party", { id: detail.creator.partyId }) }
        : undefined,
    ]),
    explorerPage: { kind: "party", id: detail.partyId ?? id },
    parent: address("parties", {}),
  };
};
