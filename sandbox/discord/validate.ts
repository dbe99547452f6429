import { type Faults, invalidForm } from "./errors.js";

/**
 * Validates what a bot sends, as Discord does (see its API documentation). Each fault has the path of its
 * field. Texts are trimmed before they are counted, by code point.
 */

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const lengthOf = (text: string) => [...text.trim()].length;

class Check {
  readonly faults: Faults = new Map();

  fault(path: string, message: string): void {
    if (!this.faults.has(path)) this.faults.set(path, message);
  }

  /** Checks a text and returns its length. */
  text(path: string, value: unknown, least: number, most: number): number {
    if (value === undefined || value === null) {
      if (least > 0) this.fault(path, "This field is required");
      return 0;
    }
    if (typeof value !== "string") {
      this.fault(path, "Could not interpret as string.");
      return 0;
    }
    if (!value.isWellFormed()) this.fault(path, "Malformed text");
    const length = lengthOf(value);
    if (length < least || length > most) {
      this.fault(
        path,
        least === 0
          ? `Must be ${most} or fewer in length.`
          : `Must be between ${least} and ${most} in length.`,
      );
    }
    return length;
  }

  optionalText(path: string, value: unknown, most: number): number {
    return value === undefined || value === null ? 0 : this.text(path, value, 1, most);
  }

  url(path: string, value: unknown, attachments: ReadonlySet<string>, most = 2_048): void {
    if (value === undefined || value === null) return;
    if (typeof value !== "string" || value.length > most) {
      this.fault(path, "Not a well formed URL.");
      return;
    }
    if (value.startsWith("attachment://")) {
      if (!attachments.has(value.slice("attachment://".length)))
        this.fault(path, "References an attachment that is not there");
      return;
    }
    if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol))
      this.fault(path, "Not a well formed URL.");
  }

  most(path: string, value: unknown, most: number): readonly unknown[] {
    const all = list(value);
    if (all.length > most) this.fault(path, `Must be ${most} or fewer in length.`);
    return all;
  }

  done(): void {
    if (this.faults.size > 0) throw invalidForm(this.faults);
  }
}

function checkEmbed(check: Check, path: string, embed: unknown, attachments: ReadonlySet<string>): number {
  if (!isObject(embed)) {
    check.fault(path, "Only dictionaries may be used in a DictType");
    return 0;
  }
  let total = check.optionalText(`${path}.title`, embed.title, 256);
  total += check.optionalText(`${path}.description`, embed.description, 4_096);
  check.url(`${path}.url`, embed.url, attachments);
  if (typeof embed.color === "number" && (embed.color < 0 || embed.color > 0xffffff))
    check.fault(`${path}.color`, "Not a colour");
  if (embed.timestamp !== undefined && Number.isNaN(Date.parse(String(embed.timestamp))))
    check.fault(`${path}.timestamp`, "Not a time");
  for (const [at, field] of check.most(`${path}.fields`, embed.fields, 25).entries()) {
    const each = isObject(field) ? field : {};
    total += check.text(`${path}.fields.${at}.name`, each.name, 1, 256);
    total += check.text(`${path}.fields.${at}.value`, each.value, 1, 1_024);
  }
  if (isObject(embed.footer)) {
    total += check.text(`${path}.footer.text`, embed.footer.text, 1, 2_048);
    check.url(`${path}.footer.icon_url`, embed.footer.icon_url, attachments);
  }
  if (isObject(embed.author)) {
    total += check.text(`${path}.author.name`, embed.author.name, 1, 256);
    check.url(`${path}.author.icon_url`, embed.author.icon_url, attachments);
    check.url(`${path}.author.url`, embed.author.url, attachments);
  }
  for (const picture of ["image", "thumbnail"] as const) {
    const media = embed[picture];
    if (isObject(media)) check.url(`${path}.${picture}.url`, media.url, attachments);
  }
  const shown = ["title", "description", "fields", "image", "thumbnail", "footer", "author"].some(
    (key) => embed[key],
  );
  if (!shown) check.fault(path, "This embed is empty");
  return total;
}

function checkEmoji(check: Check, path: string, emoji: unknown): void {
  if (emoji === undefined || emoji === null) return;
  const name = isObject(emoji) ? emoji.name : undefined;
  const custom = isObject(emoji) && typeof emoji.id === "string";
  const usable =
    typeof name === "string" &&
    (custom || (/\p{Extended_Pictographic}/u.test(name) && [...name].length <= 10));
  if (!usable) check.fault(`${path}.name`, "Invalid emoji");
}

function checkButton(check: Check, path: string, button: Json, ids: Set<unknown>): void {
  const { style } = button;
  if (typeof style !== "number" || style < 1 || style > 6)
    check.fault(`${path}.style`, "Value must be one of 1 to 6.");
  check.optionalText(`${path}.label`, button.label, 80);
  checkEmoji(check, `${path}.emoji`, button.emoji);
  if (!button.label && !button.emoji) check.fault(`${path}.label`, "A button needs a label or an emoji");
  if (style === 5) {
    check.url(`${path}.url`, button.url, new Set(), 512);
    if (!button.url) check.fault(`${path}.url`, "A link button must have a url.");
  } else checkId(check, path, button.custom_id, ids);
}

function checkId(check: Check, path: string, id: unknown, ids: Set<unknown>): void {
  check.text(`${path}.custom_id`, id, 1, 100);
  if (ids.has(id)) check.fault(`${path}.custom_id`, "Component custom id cannot be duplicated");
  ids.add(id);
}

function checkMenu(check: Check, path: string, menu: Json, ids: Set<unknown>): void {
  checkId(check, path, menu.custom_id, ids);
  check.optionalText(`${path}.placeholder`, menu.placeholder, 150);
  const options = check.most(`${path}.options`, menu.options, 25);
  if (options.length === 0) check.fault(`${path}.options`, "Must be between 1 and 25 in length.");
  const values = new Set<unknown>();
  let chosen = 0;
  for (const [at, option] of options.entries()) {
    const each = isObject(option) ? option : {};
    check.text(`${path}.options.${at}.label`, each.label, 1, 100);
    check.text(`${path}.options.${at}.value`, each.value, 1, 100);
    check.optionalText(`${path}.options.${at}.description`, each.description, 100);
    checkEmoji(check, `${path}.options.${at}.emoji`, each.emoji);
    if (values.has(each.value))
      check.fault(`${path}.options.${at}.value`, "The specified option value is already used");
    values.add(each.value);
    if (each.default === true) chosen += 1;
  }
  if (chosen > Number(menu.max_values ?? 1)) check.fault(`${path}.options`, "Too many options are chosen");
}

function checkRows(check: Check, components: unknown): void {
  const ids = new Set<unknown>();
  for (const [at, row] of check.most("components", components, 5).entries()) {
    const path = `components.${at}`;
    if (!isObject(row) || row.type !== 1) {
      check.fault(`${path}.type`, "Value must be one of {1}.");
      continue;
    }
    const inner = list(row.components);
    if (inner.length === 0) check.fault(`${path}.components`, "Must be between 1 and 5 in length.");
    const menus = inner.filter((each) => isObject(each) && each.type !== 2).length;
    if (inner.length > 5 || (menus > 0 && inner.length > 1))
      check.fault(`${path}.components`, "Must be 5 or fewer in length.");
    for (const [index, each] of inner.entries()) {
      const inside = `${path}.components.${index}`;
      if (!isObject(each)) check.fault(inside, "Not a component");
      else if (each.type === 2) checkButton(check, inside, each, ids);
      else if (each.type === 3) checkMenu(check, inside, each, ids);
      else if (![5, 6, 7, 8].includes(Number(each.type)))
        check.fault(`${inside}.type`, "Not a component of a message");
    }
  }
}

/** A file that came with a message. */
export interface SentFile {
  readonly name: string;
  readonly bytes: number;
}

/**
 * Checks a message in its state after an edit.
 * @throws {DiscordError} 50035 or 50006
 */
export function checkMessage(
  message: Json,
  files: readonly SentFile[],
  keptNames: readonly string[] = [],
): void {
  const check = new Check();
  const attachments = new Set([...files.map(({ name }) => name), ...keptNames]);
  check.text("content", message.content, 0, 2_000);
  let total = 0;
  for (const [at, embed] of check.most("embeds", message.embeds, 10).entries()) {
    total += checkEmbed(check, `embeds.${at}`, embed, attachments);
  }
  if (total > 6_000) check.fault("embeds", "Embed size exceeds maximum size of 6000");
  checkRows(check, message.components);
  if (files.length > 10) check.fault("files", "Must be 10 or fewer in length.");
  for (const [at, file] of files.entries()) {
    if (file.bytes > 10 * 1024 * 1024) check.fault(`files.${at}`, "The file is too large");
  }
  for (const [at, attachment] of list(message.attachments).entries())
    if (isObject(attachment))
      check.optionalText(`attachments.${at}.description`, attachment.description, 1_024);
  if (message.nonce !== undefined) check.text("nonce", String(message.nonce), 1, 25);
  const mentions = message.allowed_mentions;
  if (isObject(mentions)) {
    for (const [at, each] of list(mentions.parse).entries()) {
      if (!["roles", "users", "everyone"].includes(String(each)))
        check.fault(`allowed_mentions.parse.${at}`, "Not a mention");
    }
    for (const kind of ["roles", "users"] as const) {
      if (list(mentions.parse).includes(kind) && list(mentions[kind]).length > 0) {
        check.fault("allowed_mentions", `parse:["${kind}"] and ${kind}: [ids...] are mutually exclusive.`);
      }
    }
  }
  check.done();
  const empty = !message.content && list(message.embeds).length === 0 && attachments.size === 0;
  if (empty) throw invalidForm(new Map([["content", "Cannot send an empty message"]]));
}

/** Components that a label of a dialog may contain (openapi.json: LabelComponentForModalRequest). */
const IN_LABELS = [3, 4, 5, 6, 7, 8, 19, 21, 22, 23];

function checkLabelled(check: Check, path: string, component: Json, ids: Set<unknown>): void {
  checkId(check, path, component.custom_id, ids);
  const options = list(component.options);
  const [least, most] = component.type === 21 ? [2, 10] : [1, component.type === 22 ? 10 : 25];
  switch (component.type) {
    case 4:
      if (component.label !== undefined) check.fault(`${path}.label`, "Not allowed in a label");
      if (![1, 2].includes(Number(component.style))) check.fault(`${path}.style`, "Must be 1 or 2");
      check.optionalText(`${path}.placeholder`, component.placeholder, 100);
      check.optionalText(`${path}.value`, component.value, Number(component.max_length ?? 4_000));
      break;
    case 3:
    case 21:
    case 22:
      if (options.length < least || options.length > most)
        check.fault(`${path}.options`, `Must be between ${least} and ${most} in length.`);
      for (const [at, option] of options.entries()) {
        const each = isObject(option) ? option : {};
        check.text(`${path}.options.${at}.label`, each.label, 1, 100);
        check.text(`${path}.options.${at}.value`, each.value, 1, 100);
        check.optionalText(`${path}.options.${at}.description`, each.description, 100);
      }
      if (
        component.type === 21 &&
        options.filter((each) => isObject(each) && each.default === true).length > 1
      )
        check.fault(`${path}.options`, "Too many options are chosen");
      break;
    default:
      if (list(component.default_values).length > Number(component.max_values ?? 1))
        check.fault(`${path}.default_values`, "Too many options are chosen");
  }
}

/** Checks a dialog. @throws {DiscordError} 50035 */
export function checkModal(modal: Json): void {
  const check = new Check();
  const ids = new Set<unknown>();
  check.text("data.title", modal.title, 1, 45);
  check.text("data.custom_id", modal.custom_id, 1, 100);
  const labels = check.most("data.components", modal.components, 5);
  if (labels.length === 0) check.fault("data.components", "Must be between 1 and 5 in length.");
  for (const [at, each] of labels.entries()) {
    const path = `data.components.${at}`;
    const component = isObject(each) ? each.component : undefined;
    if (!isObject(each) || each.type !== 18 || !isObject(component)) {
      check.fault(`${path}.type`, "Value must be one of {18}.");
      continue;
    }
    check.text(`${path}.label`, each.label, 1, 45);
    check.optionalText(`${path}.description`, each.description, 100);
    if (!IN_LABELS.includes(Number(component.type)))
      check.fault(`${path}.component.type`, "Not a component of a label");
    else checkLabelled(check, `${path}.component`, component, ids);
  }
  check.done();
}

/** Checks the choices of an autocompletion. @throws {DiscordError} 50035 */
export function checkChoices(choices: unknown): void {
  const check = new Check();
  for (const [at, choice] of check.most("data.choices", choices, 25).entries()) {
    const each = isObject(choice) ? choice : {};
    check.text(`data.choices.${at}.name`, each.name, 1, 100);
    if (typeof each.value === "string") check.text(`data.choices.${at}.value`, each.value, 1, 100);
  }
  check.done();
}

const NAME = /^[-_\p{Ll}\p{Lo}\p{N}]{1,32}$/u;

function checkOptions(check: Check, path: string, options: unknown): number {
  let size = 0;
  let optional = false;
  const names = new Set<unknown>();
  for (const [at, option] of check.most(path, options, 25).entries()) {
    const each = isObject(option) ? option : {};
    const here = `${path}.${at}`;
    if (typeof each.name !== "string" || !NAME.test(each.name))
      check.fault(`${here}.name`, "Command name is invalid");
    if (names.has(each.name)) check.fault(`${here}.name`, "Option names must be unique");
    names.add(each.name);
    size += String(each.name).length + check.text(`${here}.description`, each.description, 1, 100);
    if (each.required === true && optional)
      check.fault(here, "Required options must be placed before non-required options");
    if (each.required !== true && Number(each.type) > 2) optional = true;
    for (const [index, choice] of check.most(`${here}.choices`, each.choices, 25).entries()) {
      const value = isObject(choice) ? choice : {};
      size += check.text(`${here}.choices.${index}.name`, value.name, 1, 100) + String(value.value).length;
    }
    size += checkOptions(check, `${here}.options`, each.options);
  }
  return size;
}

/**
 * Checks a complete set of commands.
 * @throws {DiscordError} 50035
 */
export function checkCommands(commands: readonly unknown[]): void {
  const check = new Check();
  if (commands.length > 100) check.fault("commands", "Must be 100 or fewer in length.");
  for (const [at, command] of commands.entries()) {
    const each = isObject(command) ? command : {};
    if (typeof each.name !== "string" || !NAME.test(each.name))
      check.fault(`${at}.name`, "Command name is invalid");
    const own = check.text(`${at}.description`, each.description, 1, 100) + String(each.name).length;
    if (own + checkOptions(check, `${at}.options`, each.options) > 8_000)
      check.fault(`${at}`, "Command exceeds maximum size (8000)");
  }
  check.done();
}
