import { LabelBuilder, ModalBuilder } from "@discordjs/builders";
import {
  type APIActionRowComponent,
  type APIButtonComponent,
  ButtonStyle,
  type ChannelType,
  ComponentType,
  type ModalSubmitInteraction,
  TextInputStyle,
} from "discord.js";
import { clean, cut } from "../text/plain.js";
import { digest } from "../util/digest.js";
import { LIMITS } from "./limits.js";

/** A choice of a field. */
export interface FormOption {
  readonly value: string;
  readonly label: string;
  readonly isChosen: boolean;
}

interface FieldBase {
  /** Name of its answer. */
  readonly name: string;
  readonly label: string;
  /** A line below the label. */
  readonly hint?: string | undefined;
  /** The values that are stored, if the field shows others. */
  readonly stored?: readonly string[];
}

/** A field of a dialog (Discord: a Label with one component). */
export type FormField = FieldBase &
  (
    | {
        readonly kind: "text";
        readonly value: string;
        readonly maxLength: number;
        readonly isRequired: boolean;
      }
    | {
        readonly kind: "channel";
        readonly chosen: string | undefined;
        readonly types: readonly ChannelType[];
      }
    | { readonly kind: "role"; readonly chosen: string | undefined }
    /** Any number of the options can be chosen (Discord: 10 options). */
    | { readonly kind: "checks"; readonly options: readonly FormOption[] }
    /** One option is chosen (Discord: 2 to 10 options). */
    | { readonly kind: "radio"; readonly options: readonly FormOption[] }
  );

/** A dialog. It shows the first five fields (Discord: 5). */
export interface Form {
  readonly title: string;
  readonly fields: readonly FormField[];
  /** True to leave unchanged fields out of the answers, because others may change the same thing meanwhile. */
  readonly isEdit?: boolean;
}

/** A person's answers by field name. A text field and a radio group have one value; the others have any number. */
export type FormAnswers = ReadonlyMap<string, readonly string[]>;

const optionsOf = (options: readonly FormOption[]) =>
  options.slice(0, LIMITS.groupOptions).map(({ value, label, isChosen }) => ({
    value,
    label: cut(label, LIMITS.menuText),
    default: isChosen,
  }));

/** Separates a field's name from the values that it showed: a bit for each option of a group, a hash of other values. */
const SHOWN = "~";
const BITS = "=";

/** Returns the name of the answer that says which options of a group the dialog showed as chosen, as "1" and "0". */
export const shownBits = (name: string): string => `${name}${SHOWN}`;

const hashOf = (values: readonly string[]): string => digest(JSON.stringify(values.toSorted()));

/**
 * Returns the text that a field shows. A person may have typed only spaces, or half of a surrogate pair, both of which Discord refuses
 * as a value.
 */
const shownText = ({ value, maxLength }: { readonly value: string; readonly maxLength: number }): string =>
  cut(value.toWellFormed().trim(), maxLength);

/** Returns the values that a field shows. */
function shownValues(field: FormField): readonly string[] {
  if (field.stored) return field.stored;
  if (field.kind === "text") return [shownText(field)].filter(Boolean);
  if (field.kind === "channel" || field.kind === "role")
    return field.chosen === undefined ? [] : [field.chosen];
  return field.options.flatMap(({ value, isChosen }) => (isChosen ? [value] : []));
}

function labelOf(field: FormField): LabelBuilder {
  const label = new LabelBuilder().setLabel(cut(field.label, LIMITS.inputLabel));
  if (field.hint) label.setDescription(cut(field.hint, LIMITS.menuText));
  switch (field.kind) {
    case "text":
      return label.setTextInputComponent((input) => {
        input.setCustomId(field.name).setStyle(TextInputStyle.Short).setRequired(field.isRequired);
        if (shownText(field) !== "") input.setValue(shownText(field));
        return input.setMaxLength(field.maxLength);
      });
    case "channel":
      return label.setChannelSelectMenuComponent((menu) => {
        menu
          .setCustomId(field.name)
          .setRequired(true)
          .setChannelTypes(...field.types);
        return field.chosen === undefined ? menu : menu.setDefaultChannels(field.chosen);
      });
    case "role":
      return label.setRoleSelectMenuComponent((menu) => {
        menu.setCustomId(field.name).setRequired(false).setMinValues(0).setMaxValues(1);
        return field.chosen === undefined ? menu : menu.setDefaultRoles(field.chosen);
      });
    case "checks":
      return label.setCheckboxGroupComponent((group) =>
        group.setCustomId(field.name).setRequired(false).setMinValues(0).setOptions(optionsOf(field.options)),
      );
    case "radio":
      return label.setRadioGroupComponent((group) =>
        group.setCustomId(field.name).setRequired(true).setOptions(optionsOf(field.options)),
      );
  }
}

/** Returns a form as Discord's dialog. */
export function modalOf(customId: string, { title, fields, isEdit }: Form) {
  const named = (field: FormField): FormField => {
    if (!isEdit) return field;
    const values = shownValues(field);
    const bits =
      field.kind === "checks" ? field.options.map(({ value }) => Number(values.includes(value))) : [];
    const shown = field.kind === "checks" ? `${BITS}${bits.join("")}` : hashOf(values);
    return { ...field, name: `${field.name}${SHOWN}${shown}` };
  };
  return new ModalBuilder()
    .setCustomId(customId)
    .setTitle(cut(clean(title), LIMITS.modalTitle))
    .addLabelComponents(...fields.slice(0, LIMITS.modalFields).map((field) => labelOf(named(field))))
    .toJSON();
}

/** Returns the answers of a submitted dialog, without those that an edit left as they were. */
export function answersOf({ components }: Pick<ModalSubmitInteraction, "components">): FormAnswers {
  const answers = new Map<string, readonly string[]>();
  const note = (customId: string, values: readonly string[]) => {
    const [name = "", shown] = customId.split(SHOWN);
    if (shown?.startsWith(BITS)) answers.set(shownBits(name), [shown.slice(BITS.length)]);
    if (shown !== hashOf(values.filter(Boolean))) answers.set(name, values);
  };
  for (const row of components) {
    if (row.type !== ComponentType.Label) continue;
    const { component } = row;
    if ("values" in component) note(component.customId, [...component.values]);
    else if ("value" in component && typeof component.value === "string")
      note(component.customId, [component.value]);
    else note(component.customId, []);
  }
  return answers;
}

/** Returns a form that shows earlier answers. */
export const withAnswers = (form: Form, answers: FormAnswers): Form => ({
  ...form,
  fields: form.fields.map((field): FormField => {
    const values = answers.get(field.name);
    if (!values) return field;
    const [first] = values;
    const stored = shownValues(field);
    switch (field.kind) {
      case "text":
        return { ...field, stored, value: first ?? "" };
      case "channel":
      case "role":
        return { ...field, stored, chosen: first };
      default: {
        const shown = answers.get(shownBits(field.name))?.[0];
        const isChosen = (each: { value: string; isChosen: boolean }, index: number) => {
          const isPicked = values.includes(each.value);
          // Another person may have changed an option that the person left as it was.
          return shown?.[index] === String(Number(isPicked)) ? each.isChosen : isPicked;
        };
        return {
          ...field,
          stored,
          options: field.options.map((each, index) => ({ ...each, isChosen: isChosen(each, index) })),
        };
      }
    }
  }),
});

/** Returns a row with the button that opens a refused dialog again. @param customId of the dialog */
export const tryAgainRow = (customId: string): APIActionRowComponent<APIButtonComponent> => ({
  type: ComponentType.ActionRow,
  components: [
    {
      type: ComponentType.Button,
      style: ButtonStyle.Secondary,
      custom_id: customId,
      label: "Try again",
      emoji: { name: "✏️" },
    },
  ],
});
