import { openSlice } from "../explorer/paging.js";
import { toCount, toRecord, toText, toTime } from "../explorer/values.js";
import { shortId } from "../text/ids.js";
import { codeBlock, idCode, md } from "../text/markdown.js";
import { countedWords } from "../text/numbers.js";
import { perObject } from "../util/per-object.js";
import { present } from "../util/present.js";
import { address } from "./addresses.js";
import { jsonFile } from "./json-file.js";
import {
  agedList,
  brief,
  entityOf,
  happenedAt,
  happenedOn,
  idsIn,
  jsonFields,
  row,
  rowMenu,
} from "./parts.js";
import type { Screen } from "./view.js";

/** Formats a number of events. */
const eventsOfCount = (count: number | null): string =>
  count === null ? "events unknown" : countedWords(count, "event");

/** Lists updates by age. */
export const updates: Screen<"updates"> = async ({ order, page }, { explorer }) => {
  const reading = await openSlice((at) => explorer.updates({ ...at, orderBy: order }), page);
  const { rows } = reading.data;
  return agedList(reading, {
    thing: "update",
    order,
    toRow: (each) =>
      row(
        md`${happenedAt(each.recordTime ?? each.effectiveAt, "f")} · ${eventsOfCount(each.eventsCount)}`,
        md`-# ${idCode(each.updateId)} · ${each.synchronizerName === null ? idCode(each.synchronizerId) : brief(each.synchronizerName)}`,
      ),
    menus: [
      rowMenu(rows, "Open an update…", ({ updateId, eventsCount, workflowId }) =>
        updateId === null
          ? undefined
          : {
              label: shortId(updateId),
              hint: `${eventsOfCount(eventsCount)}${workflowId === null ? "" : ` · ${workflowId}`}`,
              to: address("update", { id: updateId }),
            },
      ),
    ],
    turned: (by) => address("updates", { order: by }),
  });
};

type UpdateDetails = Readonly<Record<string, unknown>>;

/** Maximum number of events or fields of an update to read. An update is untrusted and may have any number. */
const MAX_READ = 300;

/**
 * Returns the first events of an update in their order, and the total number. If the details contain no events by id, only the
 * ids of the root events are known. They may have others below them, so the number is null.
 */
function eventsOf(details: UpdateDetails) {
  const byId = toRecord(details.events_by_id ?? details.eventsById) ?? {};
  const ids = Object.keys(byId);
  const events = ids.slice(0, MAX_READ).map((id) => {
    const event = toRecord(byId[id]) ?? {};
    const eventType = toText(event.event_type ?? event.eventType);
    return {
      id,
      template: toText(event.templateName) ?? entityOf(toText(event.template_id ?? event.templateId)),
      did: toText(event.choice) ?? eventType?.replace(/_event$/, "") ?? null,
    };
  });
  if (events.length > 0) return { events, count: ids.length };
  const roots = idsIn(details.root_event_ids ?? details.rootEventIds);
  return { events: roots.map((id) => ({ id, template: null, did: null })), count: null };
}

const MAX_SHOWN = 10;

/** Matches fields that repeat others, or that the screen shows elsewhere. */
const SHOWN_APART = /^(events?_?by_?id|root_?event_?ids|update_?id)$/i;

/** The parts of an update's screen, cached for each reading. */
const partsOf = perObject((details: UpdateDetails) => {
  const otherFields = Object.keys(details)
    .slice(0, MAX_READ)
    .filter((key) => !SHOWN_APART.test(key));
  return {
    ...eventsOf(details),
    fields: jsonFields("Details", Object.fromEntries(otherFields.map((key) => [key, details[key]]))),
  };
});

/** Shows an update: a summary of its events, and all details as a file. */
export const update: Screen<"update"> = async ({ id }, { explorer }) => {
  const reading = await explorer.updateDetails({ updateId: id });
  const details = reading.data;
  const { events, count: listed, fields } = partsOf(details);
  const file = await jsonFile(`update-${id}`, details);
  const recordedAt = toTime(
    details.record_time ?? details.recordTime ?? details.effective_at ?? details.effectiveAt,
  );
  // If the details contain no events, their number is unknown, not zero.
  const count = toCount(details.events_count ?? details.eventsCount) ?? listed;
  const moreCount = (listed ?? events.length) - MAX_SHOWN;
  return {
    title: md`Update ${shortId(id)}`,
    body: present([
      md`${happenedOn(recordedAt)} · ${eventsOfCount(count)}`,
      ...events
        .slice(0, MAX_SHOWN)
        .map(
          ({ did, template }) =>
            md`• **${brief(did ?? "event")}** · ${brief(template ?? "unknown template")}`,
        ),
      moreCount > 0 && (listed === null ? md`…and more` : md`…and ${moreCount} more`),
      file ? undefined : md`-# The details are too large to attach.`,
    ]),
    fields: [...fields, { name: "Update id", value: codeBlock(id) }],
    files: file ? [file] : [],
    readings: [reading],
    menus: [
      rowMenu(
        events.filter(({ id: eventId }) => /:\d+$/.test(eventId)),
        "Open an event…",
        ({ id: eventId, did, template }) => ({
          label: [did ?? "event", template].filter(Boolean).join(" · "),
          hint: shortId(eventId),
          to: address("event", { id: eventId }),
        }),
      ),
    ],
    explorerPage: { kind: "update", id },
    parent: address("updates", {}),
  };
};
