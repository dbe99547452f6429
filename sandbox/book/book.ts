import type { Given } from "../discord/driver.js";
import type { Channel, Message, User } from "../discord/world.js";
import type { Ledger } from "../explorer/ledger.js";
import type { Validator } from "../explorer/model.js";
import { makeStack, SMALL, type Stack } from "../stack.js";
import { pageOf, type Reader } from "./plain.js";

/** Time at which the book begins, a Monday at noon. */
const BEGINS_AT = Date.UTC(2026, 9, 5, 12);

/** The book while it is being written: the bot's messages as text, and the sandbox. */
export interface Book {
  readonly place: Stack;
  /** Begins a chapter with a sentence about it. */
  chapter(title: string, about: string): void;
  /** Adds the current content of a message. */
  page(title: string, message: Message): Message;
  /** Adds lines that are not from a message. */
  lines(title: string, lines: readonly string[]): void;
  /**
   * Returns a new member named Ana, so that no one exceeds the rate limit per person (REQUESTS_PER_PERSON).
   */
  member(): User;
  /** Types a command, and adds its answer. By default, a member types it in #general. */
  ask(command: string, given?: Given, as?: Person, title?: string): Promise<Message>;
  /** Waits for a message of this chapter in a channel, and adds it. */
  hear(title: string, channel: Channel, pattern: RegExp): Promise<Message>;
  /** Waits until the vote requests, and the validators if any are watched, have been polled twice. */
  polled(): Promise<void>;
  /** Advances the clock. All validators except for these keep reporting. */
  pass(ms: number, silent?: readonly string[]): Promise<void>;
}

/** Time before each command in ms, so that rate limits are not exceeded. */
const ASK_MS = 4_000;

/** A person and a place, by default a member in #general. */
export interface Person {
  readonly user?: User;
  readonly channel?: Channel;
}

/** Returns everything that a message shows, as text. */
export const textOf = ({ content, embeds, components }: Message): string =>
  JSON.stringify([content, embeds, components]);

/** Returns the validator for the chapters, which is always the same: one with a name that fits. */
export function ordinaryValidator({ validators }: Ledger, fits = (_: Validator) => true): Validator {
  const [first] = validators
    .filter((each) => !each.isSv && each.party.name && fits(each))
    .toSorted((a, b) => (a.party.id < b.party.id ? -1 : 1));
  if (!first) throw new Error("The ledger has no validator with a name");
  return first;
}

/** Number of polls after which what they found has been told, also on a busy machine. */
const POLLS = 5;

const shownOption = ([name, value]: readonly [string, string | number | boolean], reader: Reader): string =>
  `${name}:${reader.nameOf(String(value)) ?? (String(value).length > 40 ? `${String(value).slice(0, 12)}…` : value)}`;

/**
 * Writes a part of the book: starts the bot on the sandbox with an almost stopped clock, runs the chapters,
 * and returns their text. The same code gives the same text.
 * @param hasSecond true for a bot with two networks
 */
export async function writeBook(
  chapters: readonly ((book: Book) => Promise<void>)[],
  hasSecond = false,
): Promise<string> {
  const place = await makeStack({
    clockAt: BEGINS_AT,
    jobsPerSecond: 5,
    ...(hasSecond ? { second: { lively: false, size: SMALL } } : {}),
    explorer: {
      lively: false,
      size: SMALL,
    },
    env: ({ channels }) => ({
      GOVERNANCE_CHANNEL_ID: channels.governance.id,
      GOVERNANCE_POLL_SECONDS: "1",
      WATCH_POLL_SECONDS: "1",
      EXPLORER_REQUESTS_PER_MINUTE: "6000",
    }),
  });
  const { discord, explorer } = place;
  const { world, driver, channels, guild } = discord;
  // With an almost stopped clock, a rate limit would never reset.
  discord.limits.enforced = false;
  const parts: string[] = [];
  /** Validators are only polled once there is a subscription to one. */
  let isWatching = false;
  /** Messages of earlier chapters. */
  const olderMessages = new Set<string>();
  const reader: Reader = {
    now: place.now,
    nameOf(id) {
      const user = world.users.get(id);
      const role = guild.roles.find((each) => each.id === id);
      return user?.global_name ?? user?.username ?? world.channels.get(id)?.name ?? role?.name;
    },
  };
  const readsOf = (path: string) => explorer.requests.filter((each) => each.path.endsWith(path)).length;
  const seenBy = (message: Message): string[] =>
    message.visibleTo === undefined ? [] : [`(only ${reader.nameOf(message.visibleTo)} can see this)`];
  const add = (title: string, lines: readonly string[]) => {
    parts.push(`### ${title}\n\n\`\`\`text\n${lines.join("\n")}\n\`\`\`\n`);
  };
  const newMember = (): User => {
    const user = world.addUser("Ana");
    guild.members.set(user.id, []);
    return user;
  };
  const advance = async (ms: number, silent: readonly string[] = []) => {
    await place.pass(ms);
    for (const each of explorer.ledger.validators)
      if (!silent.includes(each.party.id)) explorer.ledger.setValidatorActive(each, true);
  };
  const book: Book = {
    place,
    member: newMember,
    chapter(title, about) {
      parts.push(`## ${title}\n\n${about}\n`);
      for (const { id } of [...world.messages.values()].flat()) olderMessages.add(id);
    },
    page(title, message) {
      add(title, [...seenBy(message), ...pageOf(message, reader)]);
      return message;
    },
    lines: add,
    async ask(command, given = {}, { user = newMember(), channel = channels.general } = {}, title) {
      await place.pass(ASK_MS);
      isWatching ||= command === "/subscribe validator";
      const message = await driver.ask({ user, channel }, command, given);
      const options = Object.entries(given).map((each) => ` ${shownOption(each, reader)}`);
      return book.page(title ?? `\`${command}${options.join("")}\``, message);
    },
    async hear(title, channel, pattern) {
      const message = await world.until(
        () =>
          world
            .read(channel)
            .findLast(
              (each) => !olderMessages.has(each.id) && pattern.test(`${each.notified} ${textOf(each)}`),
            ),
        `${pattern} in #${channel.name}`,
      );
      return book.page(title, message);
    },
    async polled() {
      const { length } = explorer.requests;
      const later = (path: string) =>
        explorer.requests.slice(length).filter((each) => each.path.endsWith(path)).length;
      await world.until(
        () => later("/vote-requests") >= POLLS && (!isWatching || later("/validators") >= POLLS),
        "polls",
      );
    },
    async pass(ms, silent = []) {
      await advance(ms, silent);
      await book.polled();
    },
  };
  try {
    for (const each of explorer.ledger.validators) explorer.ledger.setValidatorActive(each, true);
    await place.start();
    // Autocompletion needs the lists of names. This one is read last.
    await world.until(() => readsOf("/parties/top") > 0, "the names");
    await book.polled();
    for (const play of chapters) await play(book);
    return parts.join("\n");
  } catch (error) {
    throw new Error(
      `The book could not be finished after:\n${parts.slice(-3).join("\n")}\n${place.bot().output().slice(-2_000)}`,
      {
        cause: error,
      },
    );
  } finally {
    await place.close();
  }
}
