import { ifAnswered } from "../explorer/errors.js";
import { openSlice, openUndocumentedSlice } from "../explorer/paging.js";
import type { Reward } from "../explorer/schema/ledger.js";
import type { PartyDetail, PartyListItem } from "../explorer/schema/parties.js";
import { toDecimal } from "../explorer/values.js";
import { shortId } from "../text/ids.js";
import {
  codeBlock,
  coins,
  grouped,
  type Markdown,
  md,
  timestamp,
  timestampWithAge,
} from "../text/markdown.js";
import { address } from "./addresses.js";
import { extent, named, orNothing, partyName, perRow, row, rowMenu } from "./parts.js";
import type { Choice, Menu, Screen } from "./view.js";

const toRow = perRow((each: PartyListItem) =>
  row(
    md`${named(each.partyName, each.partyAddress)}`,
    md`-# ${coins(each.balance, 2)} · first seen ${timestamp(each.firstSeen)} · last ${timestamp(each.lastSeen)}`,
  ),
);

const toChoice = perRow(({ partyAddress, partyName }: PartyListItem): Choice | undefined =>
  partyAddress === null
    ? undefined
    : {
        label: partyName ?? shortId(partyAddress),
        hint: partyName === null ? undefined : shortId(partyAddress),
        to: address("party", { id: partyAddress }),
      },
);

const openMenu = (rows: readonly PartyListItem[]): Menu => rowMenu(rows, "Open a party…", toChoice);

const SORTS = { LAST_ACTIVITY_AT: "last active", FIRST_SEEN_AT: "first seen" } as const;
const ORDERS = { DESC: "latest first", ASC: "earliest first" } as const;

/** The parties by activity or age. */
export const parties: Screen<"parties"> = async ({ sort, order, page }, { explorer }) => {
  const reading = await openSlice((at) => explorer.parties({ ...at, sortBy: sort, orderBy: order }), page);
  const sorts = ["LAST_ACTIVITY_AT", "FIRST_SEEN_AT"] as const;
  const orders = ["DESC", "ASC"] as const;
  return {
    title: md`Parties by when they were ${SORTS[sort]}, ${ORDERS[order]}`,
    tone: "neutral",
    body: [
      ...orNothing(reading.data.rows.map(toRow), "parties"),
      md``,
      md`-# ${extent(reading.data, "parties")}`,
    ],
    readings: [reading],
    pager: reading.data,
    menus: [
      openMenu(reading.data.rows),
      {
        placeholder: "Sort…",
        choices: sorts.flatMap((by) =>
          orders.map((each) => ({
            label: `By when they were ${SORTS[by]}, ${ORDERS[each]}`,
            to: address("parties", { sort: by, order: each }),
            chosen: by === sort && each === order,
          })),
        ),
      },
    ],
    links: [{ label: "Largest balances", emoji: "🏆", to: address("top", {}) }],
  };
};

/** The parties with the largest balances. */
export const top: Screen<"top"> = async ({ page }, { explorer }) => {
  const reading = await openSlice((at) => explorer.topParties({ ...at, orderBy: "DESC" }), page);
  const first = (reading.data.page - 1) * 10;
  return {
    title: md`Largest balances`,
    tone: "neutral",
    body: [
      ...orNothing(
        reading.data.rows.map((each, index) =>
          row(
            md`${first + index + 1}\\. **${coins(each.balance, 2)}**`,
            md`-# ${named(each.partyName, each.partyAddress)}`,
          ),
        ),
        "parties",
      ),
      md``,
      md`-# ${extent(reading.data, "parties")}`,
    ],
    readings: [reading],
    pager: reading.data,
    menus: [openMenu(reading.data.rows)],
    links: [{ label: "All parties", emoji: "📋", to: address("parties", {}) }],
  };
};

function balanceOf({ holdingsSummaryResponse: { summaries } }: PartyDetail, id: string) {
  return summaries.find((summary) => summary.party_id === id);
}

/** One party: what it is and what it holds. */
export const party: Screen<"party"> = async ({ id }, { explorer }) => {
  const [reading, types] = await Promise.all([
    explorer.party({ partyId: id }),
    ifAnswered(explorer.partyTypes({ partyId: id })),
  ]);
  const detail = reading.data;
  const balance = balanceOf(detail, detail.partyId ?? id);
  const isKnown = types !== undefined && Object.values(types.data).every((flag) => flag !== null);
  const kinds = [
    types?.data.isSv ? "super validator" : null,
    types?.data.isValidator ? "validator" : null,
    types?.data.isAccount ? "account" : null,
  ].filter((kind) => kind !== null);
  return {
    title: md`${detail.accountName ?? shortId(detail.partyId ?? id)}`,
    tone: "neutral",
    thumbnail: detail.imageUrl,
    body: [
      balance
        ? md`# ${coins(balance.total_coin_holdings)}`
        : md`The explorer gives no balance for this party.`,
      md`${kinds.length > 0 ? kinds.join(", ") : isKnown ? "neither validator nor known account" : "kind not known"}`,
    ],
    fields: [
      ...(balance
        ? [
            { name: "Unlocked", value: coins(balance.total_unlocked_coin), inline: true },
            { name: "Locked", value: coins(balance.total_locked_coin), inline: true },
            { name: "Available", value: coins(balance.total_available_coin), inline: true },
            { name: "Holding fees", value: coins(balance.accumulated_holding_fees_total), inline: true },
            {
              name: "Balance as of",
              value: timestamp(balance.record_time ?? detail.holdingsSummaryResponse.record_time),
              inline: true,
            },
          ]
        : []),
      {
        name: "Last seen",
        value: md`${timestampWithAge(detail.lastSeenRoundTimestamp)}${
          detail.lastSeenRound === null ? md`` : md`, round ${grouped(detail.lastSeenRound)}`
        }`,
        inline: true,
      },
      { name: "Since", value: timestampWithAge(detail.createdAt), inline: true },
      ...(detail.creator?.partyId
        ? [{ name: "Created by", value: partyName(detail.creator), inline: true }]
        : []),
      { name: "Party id", value: codeBlock(detail.partyId ?? id) },
    ],
    readings: types ? [reading, types] : [reading],
    links: [
      { label: "Rewards", emoji: "🏅", to: address("rewards", { id }) },
      ...(types?.data.isValidator || types?.data.isSv
        ? [{ label: "Validator", emoji: "🖥️", to: address("validator", { id }) }]
        : []),
      ...(detail.creator?.partyId && detail.creator.partyId !== id
        ? [{ label: "Creator", emoji: "🪪", to: address("party", { id: detail.creator.partyId }) }]
        : []),
    ],
    parent: address("parties", {}),
  };
};

const KINDS = [
  ["app", "inputAppRewardAmount"],
  ["validator", "inputValidatorRewardAmount"],
  ["super validator", "inputSvRewardAmount"],
] as const;

/** A reward's amounts that are not zero, each with its kind. */
function amountsOf(reward: Reward): Markdown {
  const amounts = KINDS.flatMap(([kind, key]) =>
    reward[key] === null || toDecimal(reward[key]) === "0" ? [] : [`${grouped(reward[key], 4)} CC ${kind}`],
  );
  return md`${amounts.length > 0 ? amounts.join(" · ") : "no amount"}`;
}

/** A party's rewards. */
export const rewards: Screen<"rewards"> = async ({ id, page }, { explorer }) => {
  const reading = await openUndocumentedSlice(
    "rewards",
    (at) => explorer.rewards({ partyId: id, ...at }),
    page,
  );
  return {
    title: md`Rewards of ${shortId(id)}`,
    tone: "neutral",
    body: [
      ...orNothing(
        reading.data.rows.map((each) => md`${timestamp(each.createdAt, "f")} · **${amountsOf(each)}**`),
        "rewards of this party",
      ),
      md``,
      md`-# ${extent(reading.data, "rewards")}`,
    ],
    fields: [{ name: "Party id", value: codeBlock(id) }],
    readings: [reading],
    pager: reading.data,
    menus: [
      rowMenu(reading.data.rows, "Open a reward's event…", (each) =>
        each.eventId === null
          ? undefined
          : {
              label: amountsOf(each).toString(),
              hint: shortId(each.eventId),
              to: address("event", { id: each.eventId }),
            },
      ),
    ],
    links: [{ label: "Party", emoji: "👤", to: address("party", { id }) }],
    parent: address("party", { id }),
  };
};
