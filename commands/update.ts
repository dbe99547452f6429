import { listAndShow } from "./options.js";

export const update = listAndShow("update", {
  description: "Updates of the ledger",
  list: "Updates by age",
  show: "One update: its events at a glance, and the whole as a file",
  id: "Its update id",
  opens: { list: "updates", show: "update" },
});
