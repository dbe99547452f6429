import { type ValidatorSummary, validatorSummary } from "../../explorer/schema/validators.js";
import { address } from "../../screens/addresses.js";
import { joinedRows, validatorMenu } from "../../screens/validators.js";
import type { View } from "../../screens/view.js";
import { hintOf } from "../../text/ids.js";
import { type Markdown, md } from "../../text/markdown.js";
import { countedWords } from "../../text/numbers.js";
import { cut, namesAndMore } from "../../text/plain.js";
import { present } from "../../util/present.js";

/** Maximum number of rows in a message. A button opens the full list. */
const MAX_ROWS = 10;
/** Maximum number of names in a notification. */
const MAX_NAMES = 3;

/** A sample for ledgers without validators. */
export const madeUp: ValidatorSummary = validatorSummary.parse({ validatorName: "A validator" });

const nameOf = ({ validator, validatorName }: ValidatorSummary): string =>
  cut(validatorName ?? (validator === null ? "a validator" : hintOf(validator)), 60);

/** Returns the news in one line: "🆕 2 validators joined: Fjord, Onyx". */
export function newsOf(validators: readonly ValidatorSummary[]): Markdown {
  const [first] = validators;
  if (validators.length === 1 && first) return md`🆕 Validator joined: ${nameOf(first)}`;
  const names = validators.slice(0, MAX_NAMES).map(nameOf);
  return md`🆕 ${countedWords(validators.length, "validator")} joined: ${namesAndMore(names, validators.length)}`;
}

/** Returns the message about validators that joined. */
export const joinedView = (validators: readonly ValidatorSummary[], mark: string): View => ({
  tone: "good",
  notification: newsOf(validators),
  body: present([
    ...joinedRows(validators.slice(0, MAX_ROWS)),
    validators.length > MAX_ROWS &&
      md`…and ${validators.length - MAX_ROWS} more. Press “Newest validators” to see them.`,
  ]),
  menus: [validatorMenu(validators)],
  links: [{ label: "Newest validators", emoji: "🆕", to: address("newcomers", {}), mark }],
});
