import { openSlice } from "../explorer/paging.js";
import type { PartyRef } from "../explorer/schema/fields.js";
import type { Transfer } from "../explorer/schema/ledger.js";
import { shortId } from "../text/ids.js";
import { coins, idCode, type Markdown, md, timestamp } from "../text/markdown.js";
import { address } from "./addresses.js";
import { agedList, brief, partyMenu, perRow, row, rowMenu } from "./parts.js";
import type { Screen } from "./view.js";

/** The first of several parties by its name, else its id, and how many more there are. */
function oneOf(parties: readonly PartyRef[]): Markdown {
  const [first] = parties;
  if (!first) return md`unknown`;
  const name = first.accountName === null ? idCode(first.partyId) : md`${brief(first.accountName)}`;
  return parties.length === 1 ? name : md`${name} and ${parties.length - 1} more`;
}

const toRow = perRow((each: Transfer) =>
  row(
    md`**${coins(each.amount, 4)}** · ${timestamp(each.createdAt)}${each.transferType === null ? md`` : md` · ${brief(each.transferType)}`}`,
    md`-# ${oneOf(each.senders)} → ${oneOf(each.receivers)} · fee ${coins(each.fee, 4)}`,
  ),
);

const nameOf = ([first]: readonly PartyRef[]): string =>
  first?.accountName ?? (first?.partyId ? shortId(first.partyId) : "unknown");

/** The transfers of coin. */
export const transfers: Screen<"transfers"> = async ({ order, page }, { explorer }) => {
  const reading = await openSlice((at) => explorer.transfers({ ...at, orderBy: order }), page);
  const { rows } = reading.data;
  return agedList(reading, {
    things: "Transfers",
    order,
    toRow: toRow,
    menus: [
      rowMenu(rows, "Open a transfer's event…", ({ eventId, amount, senders, receivers }) =>
        eventId === null
          ? undefined
          : {
              label: coins(amount, 4).toString(),
              hint: `${nameOf(senders)} → ${nameOf(receivers)}`,
              to: address("event", { id: eventId }),
            },
      ),
      partyMenu(
        rows.flatMap(({ senders, receivers }) => [
          ...senders.map((party) => ({ ...party, role: "sends" })),
          ...receivers.map((party) => ({ ...party, role: "receives" })),
        ]),
      ),
    ],
    turned: (by) => address("transfers", { order: by }),
  });
};
