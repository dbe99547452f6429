import { createCalendar } from "../../delivery/calendar.js";
import type { Subscription } from "../../delivery/collections.js";
import { type Feed, hasTopic } from "../../delivery/feed.js";
import type { FeedModule } from "../../delivery/module.js";
import { proposalEntry } from "../../directory/entries.js";
import { titleRoom } from "../../discord/message.js";
import { guildOf } from "../../discord/places.js";
import { standingOf } from "../../ledger/vote-phase.js";
import { countSuperValidators } from "../../ledger/vote-requests.js";
import type { View } from "../../screens/view.js";
import { unbroken } from "../../text/plain.js";
import { ageOf } from "../../util/clock.js";
import { DAY, HOUR } from "../../util/units.js";
import { calendarServers, voteCalendar } from "./calendar.js";
import {
  calendarEvents,
  representatives,
  type TrackedVoteRequest,
  trackedVoteRequests,
} from "./collections.js";
import { definition } from "./definition.js";
import {
  endedKeys,
  eventId,
  type GovernanceEvent,
  keysOf,
  openingOf,
  readEvent,
  reminderOf,
  topicOf,
} from "./events.js";
import { createMessages } from "./messages.js";
import { createNews } from "./news.js";
import { isFor, isOvertaken, isSuperseded } from "./recipients.js";
import { seenOf } from "./reminders.js";
import { createReminding } from "./reminding.js";
import { createTrackedVoteRequests } from "./requests.js";
import { createSnapshots, DETAIL_MS, type Snapshot } from "./snapshot.js";
import { toVoteRequest } from "./tracking.js";
import { forgetUnusedVoters } from "./voters.js";
import { votersCommand } from "./voters-command.js";
import { createGovernanceWatch } from "./watch.js";

/** News that is no longer true of a request that has ended. */
const LIVE: ReadonlySet<GovernanceEvent["kind"]> = new Set(["decided", "undecided", "overdue", "reopened"]);

/** True if some of these subscriptions want new requests. Others get a digest for the outcomes in it. */
const wantsNew = (recipients: readonly Subscription[]): boolean =>
  recipients.some((each) => hasTopic(each, definition, "new"));

const begins = ({ kind }: GovernanceEvent): boolean => kind === "opened" || kind === "digest";

/** Announces vote requests when they open, change, receive votes, approach a deadline or close. */
export const governance: FeedModule = {
  definition,
  collections: [trackedVoteRequests, representatives, calendarEvents],
  commands: [votersCommand],
  isVital: true,
  pollMs: ({ governance: { pollSeconds } }) => pollSeconds * 1_000,

  create(
    { explorer, state, lease, subscriptions, renderer, directory, names, rest, pacer, log, now },
    pollMs,
  ) {
    const learn = (tracked: TrackedVoteRequest) => {
      const request = { ...toVoteRequest(tracked), openedAt: tracked.openedAt ?? null };
      directory.add("proposal", proposalEntry(request, tracked.identity, names, now()));
    };
    const requests = createTrackedVoteRequests(state, (tracked) => {
      // The stored names may lack the times when a request opened or ended. They give the order in which votes took effect.
      if (tracked.phase === "open" || tracked.closedAt !== undefined) learn(tracked);
    });
    const snapshotOf = createSnapshots({
      explorer: explorer.for("background", { maxAgeMs: 10_000 }),
      hourly: explorer.for("background", { maxAgeMs: 2 * HOUR }),
      requests,
      names,
      now,
    });
    const superValidators = () => countSuperValidators(explorer.for("background", { maxAgeMs: HOUR }));
    const messages = createMessages(names, now);
    const newsView = createNews(names, now);
    const reminding = createReminding({ state, subscriptions, rest, pacer, messages, names, now });
    const titleOf = ({ request }: Snapshot) => unbroken(names.voteRequest(request, titleRoom(renderer)));

    const feed: Feed<GovernanceEvent> = {
      definition,
      readEvent,
      idOf: eventId,
      topicOf,
      subjectsOf: keysOf,
      namedIn: (event, subscription) =>
        event.kind === "digest" && !wantsNew([subscription]) ? endedKeys(event) : keysOf(event),
      begins,
      lastsAs: (event) => (event.kind === "reminder" ? eventId(event) : undefined),
      wants: isFor,
      isCovered: (event, waiting, recipients) =>
        event.kind === "reminder" ? isSuperseded(event, waiting, recipients) : isOvertaken(event, waiting),
      // In a short vote, each reminder may be the last.
      loudnessOf(event, recipients) {
        if (event.kind === "digest") return wantsNew(recipients) ? "ping" : "normal";
        return begins(event) || event.kind === "reopened" || (event.kind === "reminder" && event.isShort)
          ? "ping"
          : "normal";
      },
      async render(event, mark, recipients) {
        if (event.kind === "digest") {
          await names.read(event.rows, DETAIL_MS);
          const isForNew = wantsNew(recipients);
          const payload = renderer.message(messages.digest(event, mark, isForNew));
          return { payload, title: isForNew ? "New vote requests" : "Vote requests that ended", revision: 0 };
        }
        const snapshot = await snapshotOf(event.key, "row" in event ? event.row : undefined);
        const shown = (view: View) => ({
          payload: renderer.message(view),
          title: titleOf(snapshot),
          revision: snapshot.revision,
        });
        if (event.kind === "reminder") {
          const reminder = await reminding.sent(event, snapshot, mark, recipients);
          return reminder && { ...shown(reminder.view), mentions: reminder.mentions };
        }
        // It was queued while the channel refused messages, or Discord did not answer.
        const isLate = (snapshot.isOver || snapshot.isUnlisted) && LIVE.has(event.kind);
        const { phase } = standingOf(snapshot.request, snapshot.needed, now());
        // After an outage, only the times of the votes tell that too few were cast by the quorum date.
        const isLost = event.kind === "decided" && phase === "expired";
        // Its dates may have been moved while it waited. A vote that is cast again makes it only ready, and a missing count is no evidence.
        const isMoved = phase === "voting" && snapshot.needed !== undefined;
        const isPremature =
          event.kind === "overdue" && (isMoved || phase === "expired" || phase === "rejected");
        if (isLate || isLost || isPremature) return undefined;
        if (event.kind === "opened")
          return { ...shown(messages.announcement(snapshot, mark)), isOver: snapshot.isOver };
        if (event.kind === "missed") return shown(messages.missed(snapshot, mark));
        return shown(newsView(event, snapshot, mark));
      },
      lasting: {
        async stateOf(subject) {
          const reminder = reminderOf(subject);
          const knownRequest = await requests.get(reminder?.key ?? subject);
          if (!knownRequest) return undefined;
          const endedAt = { open: null, closed: knownRequest.closedAt ?? now(), ignored: 0 }[
            knownRequest.phase
          ];
          return { revision: knownRequest.revision, endedAt };
        },
        async current(subject, mark, _, recipients) {
          const reminder = reminderOf(subject);
          if (reminder) {
            const known = await requests.get(reminder.key);
            const event = known ? { ...reminder, ...seenOf(known, now()) } : reminder;
            return renderer.message(
              await reminding.current(event, await snapshotOf(reminder.key), mark, recipients),
            );
          }
          return renderer.message(messages.announcement(await snapshotOf(subject), mark));
        },
        titleOf: async (key) => titleOf(await snapshotOf(key)),
        beginningOf: (subject) => (reminderOf(subject) ? subject : openingOf(subject)),
      },
    };

    const poll = createGovernanceWatch({
      explorer: explorer.for("background", { maxAgeMs: 0 }),
      state,
      requests,
      superValidators,
      names,
      onLearnt: learn,
      pollMs,
      now,
    });
    const keepCalendar = createCalendar(
      { rest, pacer, state, lease, log, now },
      voteCalendar({ requests, superValidators, names, renderer, now }),
    );
    let forgotAt = Number.NEGATIVE_INFINITY;
    return {
      feed,
      poll,
      reread: requests.reread,
      async keep(audience) {
        const subscribed = await audience.subscriptions();
        await keepCalendar(calendarServers(subscribed));
        if (ageOf(forgotAt, now()) < DAY) return;
        forgotAt = now();
        const located = subscribed.map(async (each) =>
          // A subscription from the environment does not know its server.
          each.guildId === null && each.userId === null
            ? { ...each, guildId: await guildOf(rest, each.channelId).catch(() => null) }
            : each,
        );
        await forgetUnusedVoters(state, await Promise.all(located), now());
      },
    };
  },
};
