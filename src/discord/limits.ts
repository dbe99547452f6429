/** Discord's documented limits. Lengths are in UTF-16 units. Discord may count fewer, never more. */
export const LIMITS = {
  content: 2_000,
  title: 256,
  description: 4_096,
  fields: 25,
  fieldName: 256,
  fieldValue: 1_024,
  /** Total of all embeds of a message. */
  embedTotal: 6_000,
  rows: 5,
  buttonsPerRow: 5,
  buttonLabel: 80,
  customId: 100,
  menuOptions: 25,
  menuText: 100,
  menuPlaceholder: 150,
  modalTitle: 45,
  modalFields: 5,
  inputLabel: 45,
  /** Options of a checkbox group or a radio group. */
  groupOptions: 10,
  /** Alternative text of a picture. */
  fileText: 1_024,
  choices: 25,
  choiceText: 100,
} as const;
