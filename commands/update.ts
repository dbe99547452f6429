import { listAndShow } from "./options.js";

export const update = listAndShow("update", {
  description: "Updates of the ledger",
  list: "Updates by age",
  show: "One update: its events, and all details as a file",
  id: "Update id",
  opens: { list: "updates", show: "update" },
});
