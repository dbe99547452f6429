import { code, codeBlock, idCode, join, md, timestamp, timestampWithAge } from "../discord/text.js";
import { openSlice } from "../explorer/paging.js";
import type { PartyRef } from "../explorer/schema.js";
import { shortId } from "../explorer/values.js";
import { address } from "./addresses.js";
import {
  agedList,
  brief,
  entityOf,
  isPartyId,
  jsonFields,
  partiesField,
  partiesIn,
  partyMenu,
  partyName,
  row,
  rowMenu,
} from "./parts.js";
import type { Field, Link, Screen } from "./view.js";

/** The contracts by age. */
export const contracts: Screen<"contracts"> = async ({ order, page }, { explorer }) => {
  const reading = await openSlice((at) => explorer.contracts({ ...at, orderBy: order }), page);
  const { rows } = reading.data;
  return agedList(reading, {
    things: "Contracts",
    order,
    toRow: (each) =>
      row(
        md`**${brief(each.templateName ?? entityOf(each.templateId) ?? "Contract")}** · ${timestamp(each.createdAt)}`,
        md`-# ${idCode(each.contractId)} · ${each.signatories === null ? "signatories unknown" : `${each.signatories} signatories`}`,
      ),
    menus: [
      rowMenu(rows, "Open a contract…", ({ contractId, templateName, templateId }) =>
        contractId === null
          ? undefined
          : {
              label: templateName ?? entityOf(templateId) ?? "Contract",
              hint: shortId(contractId),
              to: address("c", { id: contractId }),
            },
      ),
    ],
    turned: (by) => address("contracts", { order: by }),
  });
};

/** Templates whose contracts describe a token, as far as their name says so. */
const TOKEN_TEMPLATE = /instrument|token/i;

/** One contract: what it is, who signed it, and what made it. */
export const c: Screen<"c"> = async ({ id }, { explorer }) => {
  const reading = await explorer.contract({ contractId: id });
  const detail = reading.data;
  const entity = entityOf(detail.templateId);
  const links: Link[] = [];
  if (detail.creatingEvent)
    links.push({ label: "Creating event", emoji: "⚙️", to: address("event", { id: detail.creatingEvent }) });
  if (detail.creatingUpdate)
    links.push({ label: "Its update", emoji: "🧾", to: address("update", { id: detail.creatingUpdate }) });
  if (TOKEN_TEMPLATE.test(entity ?? ""))
    links.push({ label: "Token", emoji: "🪙", to: address("t", { id: detail.contractId ?? id }) });
  return {
    title: md`${entity ?? "Contract"}`,
    tone: "neutral",
    body: [md`Contract, created ${timestampWithAge(detail.createdAt)}`],
    fields: [
      { name: "Package", value: code(detail.packageName, 80), inline: true },
      {
        name: "Signatories",
        value:
          detail.signatories.length === 0
            ? md`unknown`
            : join(
                [
                  ...detail.signatories.slice(0, 5).map(partyName),
                  detail.signatories.length > 5 && md`and ${detail.signatories.length - 5} more`,
                ],
                "\n",
              ),
        inline: true,
      },
      ...jsonFields("Arguments", detail.args),
      { name: "Template", value: codeBlock(detail.templateId, 300) },
      { name: "Contract id", value: codeBlock(detail.contractId ?? id) },
    ],
    readings: [reading],
    menus: [
      partyMenu([
        ...detail.signatories.map((party) => ({ ...party, role: "signatory" })),
        ...partiesIn(detail.args),
      ]),
    ],
    links,
    parent: address("contracts", {}),
  };
};

function rolesField(name: string, parties: readonly PartyRef[], single: string | null): Field[] {
  if (parties.length > 0)
    return [{ name, value: join(parties.slice(0, 4).map(partyName), "\n"), inline: true }];
  return partiesField(name, single === null ? [] : [single]);
}

/** One token, by the contract that describes it. */
export const t: Screen<"t"> = async ({ id }, { explorer, directory }) => {
  const reading = await explorer.token({ contractId: id });
  const token = reading.data;
  const contractId = token.contractId ?? id;
  const label = [token.name, token.symbol && `(${token.symbol})`].filter(Boolean).join(" ");
  directory.add("token", { id: contractId, name: label || null, active: null });
  const roles = [
    ["operator", token.operators, token.operator],
    ["provider", token.providers, token.provider],
    ["registrar", token.registrars, token.registrar],
  ] as const;
  return {
    title: md`${label || "Token"}`,
    tone: "neutral",
    thumbnail: token.imageUrl,
    body: [
      join(
        [
          token.symbol !== null && md`**${token.symbol}**`,
          md`${token.tokenStandard ?? "standard unknown"}`,
          md`since ${timestamp(token.createdAt, "d")}`,
        ],
        " · ",
      ),
    ],
    fields: [
      { name: "Token id", value: code(token.id), inline: false },
      ...rolesField("Operators", token.operators, token.operator),
      ...rolesField("Providers", token.providers, token.provider),
      ...rolesField("Registrars", token.registrars, token.registrar),
      ...jsonFields("Identifiers", token.additionalIdentifiersJson),
      ...jsonFields("Asked of issuers", token.issuerRequirementsJson),
      ...jsonFields("Asked of holders", token.holderRequirementsJson),
      { name: "Contract id", value: codeBlock(contractId) },
    ],
    readings: [reading],
    menus: [
      partyMenu(
        roles.flatMap(([role, parties, single]) => [
          ...parties.map((party) => ({ ...party, role })),
          ...(single !== null && isPartyId(single) && parties.length === 0
            ? [{ partyId: single, role }]
            : []),
        ]),
      ),
    ],
    links: [{ label: "Contract", emoji: "📄", to: address("c", { id: contractId }) }],
    parent: address("contracts", {}),
  };
};
