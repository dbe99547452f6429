import type { Channel, Message, World } from "../discord/world.js";
import type { Ledger } from "../explorer/ledger.js";
import type { Random } from "../explorer/random.js";

interface Parts {
  readonly ledger: Ledger;
  readonly world: World;
  readonly random: Random;
  /** Where every opening and every outcome is to be announced. */
  readonly channels: readonly Channel[];
  /** The one of them where votes are, too. */
  readonly votesIn: Channel;
}

/** Vote requests that open, are voted on and close, and an account of what the channels were sent of them. */
export function createVoteRequests({ ledger, world, random, channels, votesIn }: Parts) {
  /** Titles, each of its own. */
  const opened: string[] = [];
  const saysNew = (message: Message, title: string) => {
    const text = JSON.stringify(message.embeds);
    const alone = text.includes(`${title}"`) && /(New v|V)ote request: /.test(text);
    return alone || (text.includes(" new vote requests") && text.includes(`**${title}**`));
  };
  /** A channel's messages and those of its threads; a forum has nothing but threads. */
  const messagesIn = (channel: Channel): Message[] =>
    [channel, ...[...world.channels.values()].filter(({ parent_id }) => parent_id === channel.id)].flatMap(
      ({ id }) => world.messages.get(id) ?? [],
    );
  const timesTold = (channel: Channel, title: string) =>
    messagesIn(channel).filter((message) => saysNew(message, title)).length;
  const timesClosed = (channel: Channel, title: string) =>
    messagesIn(channel).filter(({ embeds }) => JSON.stringify(embeds).includes(`"Closed: ${title}"`)).length;
  /** What is said of the votes on a request, where each is announced. */
  const votesOn = (title: string): string[] =>
    messagesIn(votesIn)
      .map(({ embeds }) => JSON.stringify(embeds))
      .filter((text) => text.includes(`"Vote on ${title}"`))
      .map((text) => /\*\*[^*]+\*\* votes/.exec(text)?.[0] ?? text);

  const move = () => {
    const open = ledger.voteRequests.filter(
      ({ status, title }) => status === "In Progress" && opened.includes(title),
    );
    const choice = random.next();
    if (choice < 0.3 || open.length === 0) {
      const title = `Soak ${opened.length}x${random.hex(6)}`;
      opened.push(title);
      ledger.openVoteRequest({ title, lastsMs: 5 * 86_400_000 });
    } else if (choice < 0.85) ledger.castVote(random.pick(open), random.chance(0.8));
    else {
      const request = random.pick(open);
      if (channels.every((channel) => timesTold(channel, request.title) === 1))
        ledger.closeVoteRequest(request, "Accepted");
    }
  };

  const closed = () =>
    ledger.voteRequests
      .filter(({ title, status }) => opened.includes(title) && status !== "In Progress")
      .map(({ title }) => title);
  /** What is announced a wrong number of times: each opening and each outcome once in every channel, each vote once in one. */
  const wrong = (): string[] =>
    [
      ...opened.flatMap((title) =>
        channels.map((channel) => [`"${title}" in #${channel.name}`, timesTold(channel, title)] as const),
      ),
      ...closed().flatMap((title) =>
        channels.map(
          (channel) => [`The end of "${title}" in #${channel.name}`, timesClosed(channel, title)] as const,
        ),
      ),
      ...ledger.voteRequests
        .filter(({ title }) => opened.includes(title))
        .flatMap(({ title, ballots, requester }) =>
          ballots
            // The requester's own Yes comes with the request.
            .filter(({ voter }) => voter !== requester)
            .map(({ voter: { name, id } }) => {
              const own = votesOn(title).filter((text) => text.includes(`**${name ?? id}**`));
              return [`The vote of ${name ?? id} on "${title}"`, own.length] as const;
            }),
        ),
    ].flatMap(([what, times]) => (times === 1 ? [] : [`${what} was announced ${times} times`]));

  return {
    opened: () => opened.length,
    closed: () => closed().length,
    /** Opens one, votes on one, or closes one that was announced everywhere. */
    move,
    wrong,
  };
}
