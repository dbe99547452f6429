import { openSlice } from "../explorer/paging.js";
import type { EventDetail } from "../explorer/schema/ledger.js";
import { eventKind } from "../ledger/known-words.js";
import { shortId } from "../text/ids.js";
import { code, codeBlock, idCode, join, md } from "../text/markdown.js";
import { present } from "../util/present.js";
import { address } from "./addresses.js";
import {
  agedList,
  brief,
  entityOf,
  happenedAt,
  happenedOn,
  idsIn,
  jsonFields,
  jsonText,
  partiesField,
  partiesIn,
  partiesOf,
  partyMenu,
  restFile,
  row,
  rowMenu,
} from "./parts.js";
import type { Link, Screen } from "./view.js";

type DescribedEvent = Pick<EventDetail, "eventType" | "choice" | "templateName" | "templateId">;

/** Describes an event's effect with a sign and a word. */
function whatOf({ eventType, choice }: DescribedEvent): string {
  const effect = eventKind(eventType);
  if (effect === "created") return "✨ created";
  if (effect === "archived") return "📦 archived";
  if (effect === "exercised" || choice !== null) return `🔧 ${brief(choice ?? "exercised")}`;
  return `▫️ ${brief(eventType ?? "event")}`;
}

const templateOf = (event: DescribedEvent): string =>
  brief(event.templateName ?? entityOf(event.templateId) ?? "unknown template");

/** Lists events by age. */
export const events: Screen<"events"> = async ({ order, page }, { explorer }) => {
  const reading = await openSlice((at) => explorer.events({ ...at, orderBy: order }), page);
  const { rows } = reading.data;
  return agedList(reading, {
    thing: "event",
    order,
    toRow: (each) =>
      row(
        md`**${whatOf(each)}** · ${templateOf(each)}`,
        md`-# ${happenedAt(each.createdAt)} · ${idCode(each.eventId)}`,
      ),
    menus: [
      rowMenu(rows, "Open an event…", (each) =>
        each.eventId === null
          ? undefined
          : {
              label: `${whatOf(each)} · ${templateOf(each)}`,
              hint: shortId(each.eventId),
              to: address("event", { id: each.eventId }),
            },
      ),
    ],
    turned: (by) => address("events", { order: by }),
  });
};

const EVENT_ID = /^(.+):\d+$/;

/** Returns the id of the update that an event belongs to. An event's id is its update's id with a number (docs/ledger.md). */
const updateOf = (event: EventDetail, id: string): string | null =>
  event.transactionId ?? EVENT_ID.exec(event.eventId ?? id)?.[1] ?? null;

/** Shows an event: its contract, the parties involved, its arguments and its result. */
export const event: Screen<"event"> = async ({ id }, { explorer, names }) => {
  const reading = await explorer.event({ eventId: id });
  const detail = reading.data;
  const update = updateOf(detail, id);
  const roles = [
    ["acting", "Acting", idsIn(detail.actingParties)],
    ["signatory", "Signatories", idsIn(detail.signatories)],
    ["observer", "Observers", idsIn(detail.observers)],
  ] as const;
  // One that is empty tells nothing.
  const givenArguments = [detail.choiceArgument, detail.createArguments, detail.eventData].find(
    (each) => jsonText(each) !== null,
  );
  const children = idsIn(detail.childEventIds).filter((child) => EVENT_ID.test(child));
  const links: Link[] = [];
  if (detail.contractId)
    links.push({ label: "Contract", emoji: "📄", to: address("contract", { id: detail.contractId }) });
  if (update) links.push({ label: "Update", emoji: "🧾", to: address("update", { id: update }) });
  return {
    title: md`${whatOf(detail)} · ${templateOf(detail)}`,
    body: [
      join(
        [
          happenedOn(detail.createdAt),
          detail.consuming !== null &&
            detail.choice !== null &&
            md`${detail.consuming ? "archived the contract" : "kept the contract"}`,
        ],
        " · ",
      ),
    ],
    fields: present([
      { name: "Package", value: code(detail.packageName, 80), inline: true },
      detail.interfaceId !== null && {
        name: "Interface",
        value: code(entityOf(detail.interfaceId)),
        inline: true,
      },
      ...roles.flatMap(([, label, ids]) => partiesField(label, partiesOf(ids, names))),
      ...jsonFields("Arguments", givenArguments),
      ...jsonFields("Result", detail.exerciseResult),
      { name: "Event id", value: codeBlock(detail.eventId ?? id) },
      detail.contractId !== null && { name: "Contract id", value: codeBlock(detail.contractId) },
      update !== null && { name: "Update id", value: codeBlock(update) },
    ]),
    files: await restFile(
      `event-${id}`,
      { arguments: givenArguments, result: detail.exerciseResult },
      detail,
    ),
    readings: [reading],
    menus: [
      rowMenu(children, "Open a child event…", (child) => ({
        label: `Child event ${shortId(child)}`,
        to: address("event", { id: child }),
      })),
      partyMenu([
        ...roles.flatMap(([role, , ids]) =>
          ids.map((partyId) => ({ partyId, accountName: names.party(partyId), role })),
        ),
        ...partiesIn(givenArguments, names),
      ]),
    ],
    links,
    explorerPage: { kind: "event", id: detail.eventId ?? id },
    parent: address("events", {}),
  };
};
