import type { Option } from "../../discord/driver.js";
import type { ShownCommand, Snapshot } from "../snapshot.js";

/** Discord's option types. */
export const TYPE = { text: 3, whole: 4, flag: 5, channel: 7, role: 8, mentionable: 9, number: 10 } as const;

/** Content of an option's field. */
export interface Filled {
  /** Text in the field. */
  readonly text: string;
  /** Value that is sent. */
  readonly value: string | number | boolean;
}

/** The channels, roles and people that an option may name. */
type Named = Pick<Snapshot, "channels" | "roles" | "people">;

/** Returns the choices of an option. Empty if it takes any text or number. */
export function choicesOf(
  { type, choices = [] }: Option,
  { channels, roles, people }: Named,
): readonly { readonly name: string; readonly value: Filled["value"] }[] {
  const byId = ({ id, name }: { readonly id: string; readonly name: string }) => ({ name, value: id });
  switch (type) {
    case TYPE.flag:
      return [
        { name: "True", value: true },
        { name: "False", value: false },
      ];
    case TYPE.channel:
      return channels.filter((each) => each.type !== 1).map(byId);
    case TYPE.role:
      return roles.map(byId);
    case TYPE.mentionable:
      return [...people, ...roles].map(byId);
    default:
      return choices;
  }
}

/** Returns the content of an option's field for a typed text: one of its choices by its name, or the text. */
function filledWith(option: Option, text: string, named: Named): Filled {
  const wanted = text.replace(/^[#@]/, "").toLowerCase();
  const found = choicesOf(option, named).find(({ name }) => name.toLowerCase() === wanted);
  if (found) return { text: found.name, value: found.value };
  const isNumber = option.type === TYPE.whole || option.type === TYPE.number;
  return { text, value: isNumber ? Number(text) : text };
}

/**
 * Returns the command in a text with its whole name and a space, and the options that follow, as the documents write them:
 * `/price over: 7 days`. `undefined` if there is none.
 */
export function typedCommand(
  text: string,
  snapshot: Named & Pick<Snapshot, "commands">,
): readonly [command: ShownCommand, filled: Record<string, Filled>] | undefined {
  const [command] = snapshot.commands
    .filter(({ name }) => text.toLowerCase().startsWith(`/${name} `))
    .sort((a, b) => b.name.length - a.name.length);
  if (!command) return undefined;
  const names = command.options.map(({ name }) => name).join("|");
  // The name of each option that was typed, followed by its value.
  const [, ...parts] =
    names === "" ? [] : text.slice(`/${command.name}`.length).split(new RegExp(` (${names}):`));
  const filled = command.options.flatMap((option) => {
    const at = parts.findIndex((part, index) => index % 2 === 0 && part === option.name);
    const value = at === -1 ? "" : (parts[at + 1] ?? "").trim();
    return value === "" ? [] : [[option.name, filledWith(option, value, snapshot)] as const];
  });
  return [command, Object.fromEntries(filled)];
}
