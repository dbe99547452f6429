import { listAndShow } from "./options.js";

export const event = listAndShow("event", {
  description: "Events on the ledger: created contracts and exercised choices",
  list: "Events by age",
  show: "One event: what was done to which contract, and by whom",
  id: "Event id: an update id followed by :N",
  opens: { list: "events", show: "event" },
});
