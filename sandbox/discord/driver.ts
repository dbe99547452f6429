import type { Gateway } from "./gateway.js";
import { type Dialog, type Interaction, initialValues } from "./interactions.js";
import { permissionsIn } from "./permissions.js";
import type { Channel, Component, Message, User, World } from "./world.js";

/** An option of a registered command, in Discord's format. */
export interface Option {
  readonly name: string;
  readonly description?: string;
  readonly type: number;
  readonly required?: boolean;
  readonly autocomplete?: boolean;
  readonly min_value?: number;
  readonly max_value?: number;
  readonly choices?: readonly { name: string; value: string | number }[];
  readonly options?: readonly Option[];
}

export interface Registered extends Option {
  readonly id: string;
  readonly default_member_permissions?: string | null;
  readonly contexts?: readonly number[] | null;
  readonly integration_types?: readonly number[] | null;
}

/** Values for a command's options: text, numbers, booleans, or ids of channels and roles. */
export type Given = Readonly<Record<string, string | number | boolean>>;

type NamedValues = Readonly<Record<string, string | readonly string[]>>;
/** Values of a dialog's fields, in their order or by their names. */
export type FieldValues = readonly (string | readonly string[])[] | NamedValues;

/** A dialog and the message whose button opened it. */
export interface OpenedDialog {
  readonly dialog: Dialog;
  readonly source: Message;
}

/** A person in a channel. */
export interface Place {
  readonly user: User;
  readonly channel: Channel;
}

const SUBCOMMAND = 1;

/** Simulates a person who types commands, presses buttons, selects from menus and fills in dialogs. */
export class Driver {
  readonly #world: World;
  readonly #gateway: Gateway;
  readonly #interactions: Map<string, Interaction>;

  constructor(world: World, gateway: Gateway, interactions: Map<string, Interaction>) {
    this.#world = world;
    this.#gateway = gateway;
    this.#interactions = interactions;
  }

  /** Returns the commands registered for a channel. */
  commandsIn(channel: Channel): readonly Registered[] {
    const inGuild = channel.guild_id ? (this.#world.commands.get(channel.guild_id) ?? []) : [];
    return [...inGuild, ...(this.#world.commands.get("") ?? [])] as Registered[];
  }

  /** Returns the commands that Discord offers a person in a channel, by permissions and contexts. */
  commandsFor({ user, channel }: Place): readonly Registered[] {
    const held = permissionsIn(this.#world, channel, user);
    const context = channel.guild_id ? 0 : 1;
    return this.commandsIn(channel).filter(({ default_member_permissions: needed, contexts }) => {
      const bits = BigInt(needed ?? 0);
      return (held & bits) === bits && (contexts?.includes(context) ?? true);
    });
  }

  /** Deletes the interactions before a time, or all. For callers that send a hundred thousand. */
  forget(before = Number.POSITIVE_INFINITY): void {
    for (const [token, { createdAt }] of this.#interactions)
      if (createdAt < before) this.#interactions.delete(token);
  }

  /** Returns the interactions in a channel that show "thinking" to this person. */
  thinking({ user, channel }: Place): readonly Interaction[] {
    return [...this.#interactions.values()].filter(
      (each) => each.thinking && each.channel === channel && (!each.ephemeral || each.user === user),
    );
  }

  /** Types a command such as "/validator list", without waiting for its answer. */
  type(place: Place, command: string, given: Given = {}): Interaction {
    return this.#send(place, 2, this.#commandData(place, command, given));
  }

  /** Types a command and waits for its answer. */
  async ask(place: Place, command: string, given: Given = {}): Promise<Message> {
    return this.answered(this.type(place, command, given));
  }

  /** Returns the autocompletion choices for a typed value. */
  async complete(
    place: Place,
    command: string,
    focused: string,
    given: Given,
  ): Promise<NonNullable<Interaction["choices"]>> {
    const interaction = this.#send(place, 4, this.#commandData(place, command, given, focused));
    return this.#world.until(() => interaction.choices, `choices of ${command}`);
  }

  /** Presses a button by its label, its emoji or the beginning of its custom_id. */
  press(place: Place, message: Message, which: string): Interaction {
    const button = this.find(message, which);
    if (button.disabled) throw new Error(`The button ${which} is disabled`);
    return this.#send(place, 3, { custom_id: button.custom_id, component_type: 2 }, message);
  }

  /** Selects a menu's option by its value. */
  pick(place: Place, message: Message, customId: string, value: string): Interaction {
    return this.#send(place, 3, { custom_id: customId, component_type: 3, values: [value] }, message);
  }

  /** Presses a button, and waits until the message has changed or a new one was sent. */
  async click(place: Place, message: Message, which: string): Promise<Message> {
    return this.answered(this.press(place, message, which));
  }

  /**
   * Selects an option by its value or part of its label, in the first menu or the one with this custom_id.
   */
  async choose(place: Place, message: Message, label: string, id?: string): Promise<Message> {
    for (const menu of this.components(message)) {
      if (id !== undefined && menu.custom_id !== id) continue;
      const option = menu.options?.find((each) => each.value === label || each.label.includes(label));
      if (!option) continue;
      return this.answered(this.pick(place, message, menu.custom_id ?? "", option.value));
    }
    throw new Error(`No menu offers ${label}`);
  }

  /** Presses a button and waits for its dialog. */
  async open(place: Place, message: Message, which: string): Promise<OpenedDialog> {
    const interaction = this.press(place, message, which);
    const dialog = await this.#world.until(() => interaction.dialog, `a dialog from ${which}`);
    return { dialog, source: message };
  }

  /** Fills in a dialog and waits for the answer. Fields without values keep those that they have. */
  async submit(place: Place, opened: OpenedDialog, values: FieldValues): Promise<Message> {
    return this.answered(this.fill(place, opened, values));
  }

  /** Fills in a dialog, without waiting for the answer. */
  fill(place: Place, { dialog, source }: OpenedDialog, values: FieldValues): Interaction {
    const components = dialog.components.map(({ component }, at) => {
      const { type, custom_id } = component;
      const given = Array.isArray(values)
        ? values[at]
        : ((values as NamedValues)[custom_id] ?? (values as NamedValues)[custom_id.split("~")[0] ?? ""]);
      const chosen = given === undefined ? initialValues(component) : [given].flat();
      const isSingle = type === 4 || type === 21;
      const answer = isSingle ? { value: chosen[0] ?? (type === 4 ? "" : null) } : { values: chosen };
      return { type: 18, id: at + 1, component: { type, id: at + 100, custom_id, ...answer } };
    });
    return this.#send(place, 5, { custom_id: dialog.custom_id, components }, source);
  }

  /** Waits for the message of an interaction: a new one, or the clicked one once it has changed. */
  async answered(interaction: Interaction, ms = 60_000): Promise<Message> {
    return this.#world.until(
      () => {
        if (interaction.thinking) return undefined;
        const last = interaction.messages.at(-1);
        if (last) return last;
        return interaction.updated ? interaction.original : undefined;
      },
      "an answer",
      ms,
    );
  }

  components(message: Message): Component[] {
    return message.components.flatMap((row) => row.components);
  }

  /** Returns the enabled buttons and menus of a message. */
  clickable(message: Message): Component[] {
    return this.components(message).filter(
      ({ disabled, url, type }) => !disabled && !url && (type === 2 || type === 3),
    );
  }

  /** Finds a button of a message. */
  find(message: Message, which: string): Component {
    const button = this.components(message).find(
      (each) =>
        each.type === 2 &&
        (each.label === which ||
          each.label?.startsWith(`${which} to `) ||
          each.emoji?.name === which ||
          each.custom_id?.startsWith(which)),
    );
    if (!button)
      throw new Error(
        `No button ${which}; there are ${this.components(message).map((each) => each.label ?? each.emoji?.name)}`,
      );
    return button;
  }

  #commandData({ channel }: Place, command: string, given: Given, focused?: string): object {
    const [name = "", ...path] = command.replace(/^\//, "").split(" ");
    const registered = this.commandsIn(channel).find((each) => each.name === name);
    if (!registered) throw new Error(`No command /${name} is registered`);
    const build = (option: Option, rest: readonly string[]): object[] => {
      const inner = (option.options ?? []).find((each) => each.type <= 2 && each.name === rest[0]);
      if (inner) return [{ name: inner.name, type: inner.type, options: build(inner, rest.slice(1)) }];
      return this.#values(option, given, focused);
    };
    return { id: registered.id, name, type: 1, options: build(registered, path) };
  }

  #values(option: Option, given: Given, focused?: string): object[] {
    const known = (option.options ?? []).filter((each) => each.type > SUBCOMMAND);
    const wrong = Object.keys(given).find((name) => !known.some((each) => each.name === name));
    if (wrong !== undefined) throw new Error(`There is no option ${wrong}`);
    return known.flatMap((each) => {
      const value = given[each.name];
      if (value === undefined) {
        if (each.required && focused === undefined) throw new Error(`The option ${each.name} is required`);
        return [];
      }
      if (each.choices?.length && !each.choices.some((choice) => choice.value === value)) {
        throw new Error(`The option ${each.name} does not offer ${value}`);
      }
      return [
        { name: each.name, type: each.type, value, ...(each.name === focused ? { focused: true } : {}) },
      ];
    });
  }

  #resolved(data: object, user: User): object {
    const text = JSON.stringify(data);
    const options = [...text.matchAll(/"type":([6789]),"value":"(\d+)"/g)].map(([, type, id]) => [type, id]);
    // The menus of a dialog have other types than the options of a command.
    const menus = [...text.matchAll(/"type":([68]),"id":\d+,"custom_id":"[^"]*","values":\[([^\]]*)\]/g)];
    const chosen = menus.flatMap(([, type, ids = ""]) =>
      [...ids.matchAll(/\d+/g)].map(([id]) => [type === "6" ? "8" : "7", id]),
    );
    const channels: Record<string, object> = {};
    const roles: Record<string, object> = {};
    const users: Record<string, object> = {};
    for (const [type = "", id = ""] of [...options, ...chosen]) {
      const channel = this.#world.channels.get(id);
      const role = [...this.#world.guilds.values()]
        .flatMap((guild) => guild.roles)
        .find((each) => each.id === id);
      const named = this.#world.users.get(id);
      if (type === "7" && channel)
        channels[id] = {
          ...channel,
          permissions: String(permissionsIn(this.#world, channel, user)),
        };
      if ("89".includes(type) && role) roles[id] = role;
      if ("69".includes(type) && named) users[id] = named;
    }
    return { channels, roles, users };
  }

  #send({ user, channel }: Place, type: number, data: object, source?: Message): Interaction {
    const typed = "name" in data ? { name: data.name } : {};
    const world = this.#world;
    const id = world.snowflake();
    const token = `interaction-token-${id}`;
    const metadata = { id, type, user, ...typed, authorizing_integration_owners: {} };
    const interaction: Interaction = {
      id,
      token,
      type,
      user,
      channel,
      source,
      metadata,
      createdAt: world.now(),
      answered: undefined,
      sentAt: performance.now(),
      answeredAt: undefined,
      ephemeral: false,
      thinking: false,
      original: undefined,
      messages: [],
      dialog: undefined,
      choices: undefined,
      updated: false,
    };
    this.#interactions.set(token, interaction);
    const guild = channel.guild_id ? world.guilds.get(channel.guild_id) : undefined;
    const member = {
      user,
      roles: guild?.members.get(user.id) ?? [],
      permissions: String(permissionsIn(world, channel, user)),
      joined_at: new Date(0).toISOString(),
      deaf: false,
      mute: false,
      flags: 0,
      nick: null,
      avatar: null,
    };
    const shown = source && (({ visibleTo, pings, notified, ...message }) => message)(source);
    const event = {
      id,
      token,
      type,
      version: 1,
      application_id: world.bot.id,
      data: { ...data, resolved: this.#resolved(data, user) },
      channel_id: channel.id,
      channel: { ...channel },
      locale: "en-US",
      entitlements: [],
      authorizing_integration_owners: guild?.members.has(world.bot.id) ? { 0: guild.id } : { 1: user.id },
      context: guild ? 0 : 1,
      app_permissions: String(permissionsIn(world, channel, world.bot)),
      attachment_size_limit: 10_485_760,
      ...(guild
        ? {
            guild_id: guild.id,
            guild_locale: "en-US",
            guild: { id: guild.id, features: [], locale: "en-US" },
            member,
          }
        : { user }),
      ...(shown ? { message: shown } : {}),
    };
    this.#gateway.dispatch("INTERACTION_CREATE", event, guild?.id);
    return interaction;
  }
}
