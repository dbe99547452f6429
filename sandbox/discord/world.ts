import { EventEmitter } from "node:events";
import { unknownChannel } from "./errors.js";

/** Data of the sandbox's Discord. Fields have the same names as in Discord's API. */

export interface User {
  id: string;
  username: string;
  global_name: string | null;
  discriminator: string;
  avatar: string | null;
  bot: boolean;
}

export interface Role {
  id: string;
  name: string;
  permissions: string;
  position: number;
  color: number;
  mentionable: boolean;
  managed: boolean;
  hoist: boolean;
}

export interface Overwrite {
  id: string;
  /** 0 for a role, 1 for a member. */
  type: 0 | 1;
  allow: string;
  deny: string;
}

export interface Channel {
  id: string;
  /** 0 text, 1 direct, 5 announcement, 10 to 12 threads, 15 forum. */
  type: number;
  guild_id?: string;
  name: string;
  parent_id?: string | null;
  permission_overwrites: Overwrite[];
  /** Recipients of a direct message channel. */
  recipients?: User[];
  thread_metadata?: {
    archived: boolean;
    auto_archive_duration: number;
    locked: boolean;
    archive_timestamp: string;
  };
  owner_id?: string;
  available_tags?: { id: string; name: string; moderated?: boolean }[];
  applied_tags?: string[];
  flags?: number;
  position: number;
}

export interface Guild {
  id: string;
  name: string;
  owner_id: string;
  roles: Role[];
  members: Map<string, string[]>;
  /** Ends of members' timeouts, epoch ms. */
  timeouts?: Map<string, number>;
}

export interface Message {
  id: string;
  channel_id: string;
  guild_id?: string;
  author: User;
  content: string;
  timestamp: string;
  edited_timestamp: string | null;
  embeds: object[];
  components: ActionRow[];
  attachments: Attachment[];
  flags: number;
  type: number;
  tts: boolean;
  mention_everyone: boolean;
  mentions: User[];
  mention_roles: string[];
  pinned: boolean;
  nonce?: string;
  interaction_metadata?: object;
  message_reference?: object;
  application_id?: string;
  thread?: Channel;
  /**
   * Fields of the sandbox only: who can see a private message, the pings, and the text of the notification.
   */
  visibleTo?: string;
  pings: string[];
  notified: string;
}

export interface Attachment {
  id: string;
  filename: string;
  size: number;
  url: string;
  proxy_url: string;
  description?: string;
  content_type: string;
}

export interface Component {
  type: number;
  custom_id?: string;
  label?: string;
  disabled?: boolean;
  url?: string;
  style?: number;
  emoji?: { name: string };
  placeholder?: string;
  options?: {
    label: string;
    value: string;
    description?: string;
    default?: boolean;
    emoji?: { name: string };
  }[];
}

export interface ActionRow {
  type: 1;
  components: Component[];
}

/** An external event in a server's calendar. Times are ISO 8601. */
export interface ScheduledEvent {
  readonly id: string;
  readonly guild_id: string;
  readonly creator_id: string;
  name: string;
  description: string;
  scheduled_start_time: string;
  scheduled_end_time: string;
  /** 1 scheduled, 2 active, 3 completed, 4 canceled. */
  status: number;
  readonly entity_type: 3;
  readonly privacy_level: 2;
  readonly entity_metadata: { readonly location: string };
}

/** A request that Discord would reject. */
export interface Refusal {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly body: object;
}

const EPOCH = 1_420_070_400_000n;

/**
 * The state of the sandbox's Discord: servers, channels, people and messages. Emits an event when it changes.
 */
export class World extends EventEmitter<{ changed: [] }> {
  readonly users = new Map<string, User>();
  readonly guilds = new Map<string, Guild>();
  /** Maximum time until the first answer to an interaction, in ms (Discord: 3 s). */
  respondMs = 3_000;
  readonly channels = new Map<string, Channel>();
  /** Messages by channel, oldest first. */
  readonly messages = new Map<string, Message[]>();
  /** Events by server, in order of creation, including past ones. */
  readonly scheduledEvents = new Map<string, ScheduledEvent[]>();
  /** Ids of people who do not accept direct messages. */
  readonly refusing = new Set<string>();
  readonly commands = new Map<string, object[]>();
  readonly files = new Map<string, { body: Buffer; type: string }>();
  readonly refusals: Refusal[] = [];
  readonly now: () => number;
  readonly bot: User;
  #sequence = 0n;

  constructor(now: () => number = Date.now) {
    super();
    this.setMaxListeners(0);
    this.now = now;
    this.bot = this.addUser("Crier", true);
  }

  /** Returns a new id that contains its time. */
  snowflake(at: number = this.now()): string {
    this.#sequence = (this.#sequence + 1n) & 0x3fffffn;
    return String(((BigInt(at) - EPOCH) << 22n) | this.#sequence);
  }

  changed(): void {
    this.emit("changed");
  }

  addUser(name: string, bot = false): User {
    const user = {
      id: this.snowflake(),
      username: name.toLowerCase().replace(/\W+/g, "_"),
      global_name: name,
      discriminator: "0",
      avatar: null,
      bot,
    };
    this.users.set(user.id, user);
    return user;
  }

  addGuild(name: string, owner: User, everyone: bigint, id = this.snowflake()): Guild {
    const guild: Guild = { id, name, owner_id: owner.id, roles: [], members: new Map([[owner.id, []]]) };
    this.guilds.set(id, guild);
    this.addRole(guild, "@everyone", everyone, { id });
    return guild;
  }

  addRole(guild: Guild, name: string, permissions: bigint, more: Partial<Role> = {}): Role {
    const role: Role = {
      id: this.snowflake(),
      name,
      permissions: String(permissions),
      position: guild.roles.length,
      color: 0,
      mentionable: false,
      managed: false,
      hoist: false,
      ...more,
    };
    guild.roles.push(role);
    return role;
  }

  addChannel(more: Partial<Channel> & Pick<Channel, "type" | "name">): Channel {
    const channel: Channel = {
      id: this.snowflake(),
      permission_overwrites: [],
      position: this.channels.size,
      ...more,
    };
    this.channels.set(channel.id, channel);
    this.messages.set(channel.id, []);
    return channel;
  }

  /** Returns the direct message channel between the bot and a person. */
  directChannel(user: User): Channel {
    const existing = [...this.channels.values()].find(
      (each) => each.type === 1 && each.recipients?.[0]?.id === user.id,
    );
    return existing ?? this.addChannel({ type: 1, name: user.username, recipients: [user] });
  }

  /** Deletes a channel with its threads, as Discord does. */
  deleteChannel(id: string): void {
    for (const each of [...this.channels.values()])
      if (each.id === id || (each.parent_id === id && each.thread_metadata)) this.channels.delete(each.id);
    this.changed();
  }

  channel(id: string | undefined): Channel {
    const channel = this.channels.get(id ?? "");
    if (!channel) throw unknownChannel();
    return channel;
  }

  /** Returns the messages that a person sees in a channel, oldest first. */
  read(channel: Channel, viewer?: User): Message[] {
    return (this.messages.get(channel.id) ?? []).filter(
      (each) => !each.visibleTo || each.visibleTo === viewer?.id,
    );
  }

  /** Returns the newest messages of all channels, a line each. */
  #newest(): string {
    const all = [...this.channels.values()].flatMap((channel) =>
      this.read(channel).map(({ id, timestamp, notified, content }) => ({
        id,
        line: `${timestamp} #${channel.name}: ${(notified || content).replaceAll("\n", " ").slice(0, 120)}`,
      })),
    );
    const byAge = all.toSorted((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
    return byAge
      .slice(-12)
      .map(({ line }) => line)
      .join("\n");
  }

  /** Resolves with the first truthy result of a condition. Rejects after a timeout in ms. Some jobs of the bot run once a minute. */
  async until<T>(
    condition: () => T | undefined | false | null | Promise<T | undefined | false | null>,
    what: string,
    ms = 120_000,
  ): Promise<T> {
    const deadline = Date.now() + ms;
    for (;;) {
      const value = await condition();
      if (value !== undefined && value !== false && value !== null) return value;
      const left = deadline - Date.now();
      if (left <= 0) throw new Error(`Waited ${ms} ms for ${what}. The newest messages:\n${this.#newest()}`);
      await new Promise<void>((resolve) => {
        const done = () => {
          clearTimeout(timer);
          this.off("changed", done);
          resolve();
        };
        const timer = setTimeout(done, Math.min(left, 50));
        this.on("changed", done);
      });
    }
  }
}
