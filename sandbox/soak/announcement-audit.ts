import type { Channel, Message, World } from "../discord/world.js";
import type { Ledger } from "../explorer/ledger.js";
import type { Random } from "../explorer/random.js";

interface Parts {
  readonly ledger: Ledger;
  readonly world: World;
  readonly random: Random;
  /** Channels that must receive every opening and every outcome. */
  readonly channels: readonly Channel[];
  /** The channel that also receives votes. */
  readonly votesIn: Channel;
}

/** Opens, votes on and closes vote requests at random, and counts the messages that the channels received about each. */
export function createVoteRequests({ ledger, world, random, channels, votesIn }: Parts) {
  /** Titles of all opened requests, which are unique. */
  const opened: string[] = [];
  const saysNew = (message: Message, title: string) => {
    const { notified, embeds, components } = message;
    const alone = notified.endsWith(`New vote request: ${title}`);
    // A summary of many requests names some of them only in its menu.
    const named = JSON.stringify([embeds, components]);
    return alone || (/ new vote requests/.test(notified) && new RegExp(`\\b${title}\\b`).test(named));
  };
  /** Messages of a channel and its threads. A forum only has threads. */
  const messagesIn = (channel: Channel): Message[] =>
    [channel, ...[...world.channels.values()].filter(({ parent_id }) => parent_id === channel.id)].flatMap(
      ({ id }) => world.messages.get(id) ?? [],
    );
  const timesTold = (channel: Channel, title: string) =>
    messagesIn(channel).filter((message) => saysNew(message, title)).length;
  const timesClosed = (channel: Channel, title: string) =>
    messagesIn(channel).filter(({ notified }) => notified.startsWith(`✅ Accepted: ${title} `)).length;
  /** Number of messages that name a voter's vote on a request. One message can name several voters. */
  const timesVoteTold = (title: string, voter: string) =>
    messagesIn(votesIn)
      .filter(
        ({ notified }) =>
          /^🗳️ (.+ voted (yes|no)|\d+ votes?) on /u.test(notified) && notified.includes(` on ${title} `),
      )
      .filter(({ embeds }) => JSON.stringify(embeds).includes(`**${voter}** `)).length;

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
  /** Problems: each opening and outcome must be announced once per channel, each vote once in one channel. */
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
            // The requester's own Yes is cast with the request.
            .filter(({ voter }) => voter !== requester)
            .map(({ voter: { name, id } }) => {
              const voter = name ?? id;
              return [`The vote of ${voter} on "${title}"`, timesVoteTold(title, voter)] as const;
            }),
        ),
    ].flatMap(([what, times]) => (times === 1 ? [] : [`${what} was announced ${times} times`]));

  return {
    opened: () => opened.length,
    closed: () => closed().length,
    /** Opens a request, votes on one, or closes one that was announced everywhere. */
    move,
    wrong,
  };
}
