import { openSlice } from "../explorer/paging.js";
import { isPartyId, shortId } from "../text/ids.js";
import { code, codeBlock, idCode, join, md, timestamp } from "../text/markdown.js";
import { countedWords } from "../text/numbers.js";
import { present } from "../util/present.js";
import { address } from "./addresses.js";
import {
  agedList,
  brief,
  entityOf,
  happenedAt,
  happenedOn,
  jsonFields,
  partiesField,
  partiesIn,
  partiesOf,
  partyLines,
  partyMenu,
  restFile,
  row,
  rowMenu,
} from "./parts.js";
import type { Link, Screen } from "./view.js";

/** Lists contracts by age. */
export const contracts: Screen<"contracts"> = async ({ order, page }, { explorer }) => {
  const reading = await openSlice((at) => explorer.contracts({ ...at, orderBy: order }), page);
  const { rows } = reading.data;
  return agedList(reading, {
    thing: "contract",
    order,
    toRow: (each) =>
      row(
        md`**${brief(each.templateName ?? entityOf(each.templateId) ?? "Contract")}** · ${happenedAt(each.createdAt)}`,
        md`-# ${idCode(each.contractId)} · ${each.signatories === null ? "signatories unknown" : countedWords(each.signatories, "signatory", "signatories")}`,
      ),
    menus: [
      rowMenu(rows, "Open a contract…", ({ contractId, templateName, templateId }) =>
        contractId === null
          ? undefined
          : {
              label: templateName ?? entityOf(templateId) ?? "Contract",
              hint: shortId(contractId),
              to: address("contract", { id: contractId }),
            },
      ),
    ],
    turned: (by) => address("contracts", { order: by }),
  });
};

/** Matches the names of templates whose contracts probably describe a token. */
const TOKEN_TEMPLATE = /instrument|token/i;

/** Shows a contract: its template, its signatories and its origin. */
export const contract: Screen<"contract"> = async ({ id }, { explorer, names }) => {
  const reading = await explorer.contract({ contractId: id });
  const detail = reading.data;
  const entity = entityOf(detail.templateId);
  const links: Link[] = [];
  if (detail.creatingEvent)
    links.push({ label: "Creating event", emoji: "⚙️", to: address("event", { id: detail.creatingEvent }) });
  if (detail.creatingUpdate)
    links.push({
      label: "Creating update",
      emoji: "🧾",
      to: address("update", { id: detail.creatingUpdate }),
    });
  if (TOKEN_TEMPLATE.test(entity ?? ""))
    links.push({ label: "Token", emoji: "🪙", to: address("token", { id: detail.contractId ?? id }) });
  return {
    title: md`${entity ?? "Contract"}`,
    body: [md`Contract, created ${happenedOn(detail.createdAt)}`],
    fields: present([
      { name: "Package", value: code(detail.packageName, 80), inline: true },
      { name: "Signatories", value: partyLines(detail.signatories), inline: true },
      ...jsonFields("Arguments", detail.args),
      { name: "Template", value: codeBlock(detail.templateId, 300) },
      { name: "Contract id", value: codeBlock(detail.contractId ?? id) },
      detail.creatingUpdate !== null && {
        name: "Created by update",
        value: codeBlock(detail.creatingUpdate),
      },
    ]),
    files: await restFile(`contract-${id}`, { arguments: detail.args }, detail),
    readings: [reading],
    menus: [
      partyMenu([
        ...detail.signatories.map((party) => ({ ...party, role: "signatory" })),
        ...partiesIn(detail.args, names),
      ]),
    ],
    links,
    explorerPage: { kind: "contract", id: detail.contractId ?? id },
    parent: address("contracts", {}),
  };
};

/** Shows a token, by the contract that describes it. */
export const token: Screen<"token"> = async ({ id }, { explorer, directory, names }) => {
  const reading = await explorer.token({ contractId: id });
  const detail = reading.data;
  const contractId = detail.contractId ?? id;
  const label = [detail.name, detail.symbol && `(${detail.symbol})`].filter(Boolean).join(" ");
  directory.add("token", { id: contractId, name: label || null, active: null });
  const roles = [
    ["operator", "Operators", detail.operators, detail.operator],
    ["provider", "Providers", detail.providers, detail.provider],
    ["registrar", "Registrars", detail.registrars, detail.registrar],
  ] as const;
  return {
    title: md`${label || "Token"}`,
    thumbnail: detail.imageUrl,
    body: [
      join(
        [
          detail.symbol !== null && md`**${detail.symbol}**`,
          md`${detail.tokenStandard ?? "standard unknown"}`,
          md`since ${timestamp(detail.createdAt, "d")}`,
        ],
        " · ",
      ),
    ],
    fields: [
      { name: "Token id", value: code(detail.id), inline: false },
      ...roles.flatMap(([, label, parties, single]) =>
        partiesField(label, parties.length === 0 && single !== null ? partiesOf([single], names) : parties),
      ),
      ...jsonFields("Identifiers", detail.additionalIdentifiersJson),
      ...jsonFields("Required of issuers", detail.issuerRequirementsJson),
      ...jsonFields("Required of holders", detail.holderRequirementsJson),
      { name: "Contract id", value: codeBlock(contractId) },
    ],
    readings: [reading],
    menus: [
      partyMenu(
        roles.flatMap(([role, , parties, single]) =>
          present([
            ...parties.map((party) => ({ ...party, role })),
            single !== null && isPartyId(single) && parties.length === 0 && { partyId: single, role },
          ]),
        ),
      ),
    ],
    links: [{ label: "Contract", emoji: "📄", to: address("contract", { id: contractId }) }],
    explorerPage: { kind: "contract", id: contractId },
    parent: address("contracts", {}),
  };
};
