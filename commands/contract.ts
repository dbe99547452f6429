import { listAndShow } from "./options.js";

export const contract = listAndShow("contract", {
  description: "Contracts on the ledger",
  list: "Contracts by age",
  show: "One contract: what it is, who signed it, what made it",
  id: "Its contract id",
  opens: { list: "contracts", show: "contract" },
});
