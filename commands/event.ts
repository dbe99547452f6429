import { listAndShow } from "./options.js";

export const event = listAndShow("event", {
  description: "Ledger events: what was created and exercised",
  list: "Events by age",
  show: "One event: what was done to which contract, and by whom",
  id: "Its event id, an update id with :N behind it",
  opens: { list: "events", show: "event" },
});
