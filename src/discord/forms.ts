import { LabelBuilder, ModalBuilder } from "@discordjs/builders";
import { type ChannelType, ComponentType, type ModalSubmitInteraction, TextInputStyle } from "discord.js";
import { cut } from "../text/plain.js";
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
}

/** A person's answers by field name. A text field and a radio group have one value; the others have any number. */
export type FormAnswers = ReadonlyMap<string, readonly string[]>;

const optionsOf = (options: readonly FormOption[]) =>
  options.slice(0, LIMITS.groupOptions).map(({ value, label, isChosen }) => ({
    value,
    label: cut(label, LIMITS.menuText),
    default: isChosen,
  }));

function labelOf(field: FormField): LabelBuilder {
  const label = new LabelBuilder().setLabel(cut(field.label, LIMITS.inputLabel));
  if (field.hint) label.setDescription(cut(field.hint, LIMITS.menuText));
  switch (field.kind) {
    case "text":
      return label.setTextInputComponent((input) => {
        input.setCustomId(field.name).setStyle(TextInputStyle.Short).setRequired(field.isRequired);
        if (field.value !== "") input.setValue(field.value.slice(0, field.maxLength));
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
export const modalOf = (customId: string, { title, fields }: Form) =>
  new ModalBuilder()
    .setCustomId(customId)
    .setTitle(cut(title, LIMITS.modalTitle))
    .addLabelComponents(...fields.slice(0, LIMITS.modalFields).map(labelOf))
    .toJSON();

/** Returns the answers of a submitted dialog. */
export function answersOf({ components }: Pick<ModalSubmitInteraction, "components">): FormAnswers {
  const answers = new Map<string, readonly string[]>();
  for (const row of components) {
    if (row.type !== ComponentType.Label) continue;
    const { component } = row;
    if ("values" in component) answers.set(component.customId, [...component.values]);
    else if ("value" in component && typeof component.value === "string")
      answers.set(component.customId, [component.value]);
    else answers.set(component.customId, []);
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
    switch (field.kind) {
      case "text":
        return { ...field, value: first ?? "" };
      case "channel":
      case "role":
        return { ...field, chosen: first };
      default:
        return {
          ...field,
          options: field.options.map((each) => ({ ...each, isChosen: values.includes(each.value) })),
        };
    }
  }),
});
