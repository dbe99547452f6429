import { listAndShow } from "./options.js";

export const contract = listAndShow("contract", {
  description: "Contracts on the ledger",
  list: "Contracts by age",
  show: "One contract: what it is, who signed it and what created it",
  id: "Contract id",
  opens: { list: "contracts", show: "contract" },
});
