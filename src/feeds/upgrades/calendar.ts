import { type CalendarSource, defineCalendar } from "../../delivery/scheduled-events.js";
import type { Renderer } from "../../discord/message.js";
import type { State } from "../../storage/state.js";
import { code, md, timestamp } from "../../text/markdown.js";
import { HOUR } from "../../util/units.js";
import { openIn, upgrades } from "./collections.js";

/** Duration of an event, in ms. Upgrades take seconds to minutes, and Discord needs an end. */
const LASTS_MS = HOUR;

/** Scheduled events of servers, by server and upgrade. */
export const upgradeCalendar = defineCalendar("upgrade-calendar", "until its upgrade is over");

/** Creates the events of open upgrades. */
export function upgradeEvents(state: State, renderer: Renderer): CalendarSource {
  return {
    collection: upgradeCalendar,
    location: "The network",
    async wanted() {
      const open = openIn(await state.open(upgrades).list());
      const events = open.map(([key, { upgradeAt }]) => ({
        key,
        name: renderer.title("🛠️ Network upgrade: transactions pause"),
        // Events are found by the upgrade's subject in their description.
        description:
          md`Transactions pause on ${timestamp(upgradeAt, "f")}, for seconds to minutes.\n${code(key)}`.toString(),
        startsAt: upgradeAt,
        endsAt: upgradeAt + LASTS_MS,
      }));
      return { events, openKeys: new Set(open.map(([key]) => key)) };
    },
    isUnknown: async (key) => {
      const known = state.open(upgrades);
      return (await known.get(key)) === undefined && known.wasSetAside(key);
    },
    markOf: async (key) => key,
  };
}
