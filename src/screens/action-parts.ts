import type { Names } from "../directory/names.js";
import type { Action } from "../ledger/actions.js";
import type { ConfigChange } from "../ledger/configuration.js";
import { type Value, valueText } from "../ledger/units.js";
import type { VoteRequest } from "../ledger/vote-requests.js";
import { withCoin } from "../text/coin.js";
import { shortId } from "../text/ids.js";
import { bold, idCode, type Markdown, md, timestamp, timestampWithAge } from "../text/markdown.js";
import { cut } from "../text/plain.js";
import { present } from "../util/present.js";
import { address } from "./addresses.js";
import { jsonFile } from "./json-file.js";
import { namedLine, partyMenu, rowMenu } from "./parts.js";
import type { Attachment, Choice, Menu } from "./view.js";

/** Maximum number of configuration changes to list. The rest is in the file. */
const MAX_CHANGES = 12;

/** Formats a value of an action. Parties are shown by name, times in each reader's time zone. */
function shownValue(value: Value, names: Names): Markdown {
  if ("party" in value) return namedLine(names.party(value.party), value.party);
  if ("id" in value) return idCode(value.id);
  if ("time" in value) return timestampWithAge(value.time);
  return md`${cut(value.words, 300)}`;
}

function changeLine({ label, from, to }: ConfigChange, names: Names): Markdown {
  const shown = (value: Value): Markdown =>
    "time" in value ? timestamp(value.time, "f") : md`${cut(valueText(value, names.distinct), 80)}`;
  const newText = to === null ? md`removed` : bold(shown(to));
  return from === null
    ? md`${cut(label, 100)}: ${newText} (new)`
    : md`${cut(label, 100)}: ${shown(from)} → ${newText}`;
}

const GAPS: Readonly<Record<NonNullable<Action["gap"]>, string>> = {
  base: "The explorer has only the new configuration, not the current one, so I can't tell what changes.",
  new: "The explorer doesn't have the new configuration, so I can't tell what changes.",
  size: "The configuration is too large for me to find what changes.",
  difference: "The old and the new configuration are the same.",
};

function changeLines({ changes, gap }: Action, names: Names, rest: string): Markdown[] {
  if (gap !== null) return [md`${GAPS[gap]} ${rest}`];
  const moreCount = changes.length - MAX_CHANGES;
  return present([
    ...changes.slice(0, MAX_CHANGES).map((change) => changeLine(change, names)),
    moreCount > 0 && md`…and ${moreCount} more. ${rest}`,
  ]);
}

/**
 * Returns the facts of an action and the changes of a configuration, one in a line.
 * @param rest a sentence that says where to find the rest
 */
export const actionLines = (action: Action, names: Names, rest: string): Markdown[] => [
  ...action.facts.map(({ label, value }) => md`${bold(cut(label, 60))}: ${shownValue(value, names)}`),
  ...changeLines(action, names, rest),
];

/** Returns a file with a request's reason, its changes and its action's JSON. `undefined` if it is too large. */
export async function actionFile(
  { action: { changes, config }, reasonBody, reasonUrl }: VoteRequest,
  identity: string,
  names: Names,
): Promise<Attachment | undefined> {
  const text = (value: Value | null) => value && withCoin(valueText(value, names.distinct), names.coin);
  const fileContent = {
    reason: { body: reasonBody, url: reasonUrl },
    changes: changes.map(({ path, label, from, to }) => ({
      field: label,
      path,
      from: text(from),
      to: text(to),
    })),
    action: config,
  };
  return jsonFile(
    `vote-request-${identity.slice(0, 16)}`,
    fileContent,
    typeof config === "object" && config !== null ? config : fileContent,
  );
}

/** Matches a contract id. */
const CONTRACT_ID = /^[0-9a-f]{100,}$/i;

/** Returns a menu that opens the parties in `more`, then the parties and contracts that an action names. */
export function actionMenu({ facts }: Action, names: Names, more: Parameters<typeof partyMenu>[0]): Menu {
  const parties = facts.flatMap(({ label, value }) =>
    "party" in value ? [{ partyId: value.party, accountName: names.party(value.party), role: label }] : [],
  );
  const contracts = rowMenu(facts, "", ({ label, value }): Choice | undefined =>
    "id" in value && CONTRACT_ID.test(value.id)
      ? { label, hint: shortId(value.id), to: address("contract", { id: value.id }) }
      : undefined,
  );
  return {
    placeholder: contracts.choices.length > 0 ? "Open a party or contract…" : "Open a party…",
    choices: [...partyMenu([...more, ...parties]).choices, ...contracts.choices],
  };
}
