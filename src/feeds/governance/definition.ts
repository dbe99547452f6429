import { channelHealths, progress } from "../../delivery/collections.js";
import { type FeedDefinition, hasTopic, type WatchChoice } from "../../delivery/feed.js";
import { calendarRefusal } from "../../delivery/scheduled-events.js";
import { FIRST_FEED } from "../../delivery/version-1.js";
import { ifAnswered, ifKnown } from "../../explorer/errors.js";
import { OUTCOME_UNKNOWN, PHASE_WORDS } from "../../ledger/vote-phase.js";
import {
  countSuperValidators,
  findVoteRequest,
  fromExplorer,
  identityOf,
  type VoteRequest,
} from "../../ledger/vote-requests.js";
import { isOpen, isOver, neededFor, outcomeKnown, votableUntil } from "../../ledger/vote-rules.js";
import { voterIn, voterSubject } from "../../ledger/votes.js";
import { statusText } from "../../screens/vote-parts.js";
import { dateWords } from "../../screens/vote-times.js";
import { channelMention, join, type Markdown, md, timestamp } from "../../text/markdown.js";
import { countedWords } from "../../text/numbers.js";
import { PersonError } from "../../util/person-error.js";
import { DAY } from "../../util/units.js";
import { calendarEvents, representativesIn, trackedVoteRequests } from "./collections.js";
import { hasVanished } from "./endings.js";
import { createMessages } from "./messages.js";
import { notVotedYet } from "./reminding.js";
import { standingFor } from "./standing.js";
import { options, pingsMissing, topics } from "./topics.js";
import { neededForTracked, requestKey, toVoteRequest, trackedStanding } from "./tracking.js";
import { PROGRESS } from "./watch.js";

/** Maximum length of the name of a watched vote request. In menus, "proposal: " and the network's name are added. */
const MAX_WATCHED = 75;

/** Timeout for loading the name of a request, in ms. Without a name, its kind is shown. */
const NAMES_MS = 1_000;

/** Returns a sample for ledgers without vote requests. */
const madeUp = (now: number): VoteRequest => ({
  ...fromExplorer(null, null),
  title: "A vote request",
  status: "In Progress",
  requester: "A super validator",
  voteBefore: now + 7 * DAY,
  yes: 3,
  no: 0,
  pending: 10,
});

/** Lets a person watch one vote request. */
const proposalWatch: WatchChoice = {
  name: "proposal",
  description: "Get private alerts about one vote request: changes, deadlines, outcome",
  owns: (subject) => voterIn(subject) === undefined,
  screen: { name: "voteRequest", subjectOf: (id) => id, isForChannels: true },
  subject: {
    option: { name: "proposal", description: "Title or vote request id", kinds: ["proposal"] },
    async check(id, { explorer }) {
      // A request that cannot be read right now can still be watched.
      const foundRequest = await ifKnown(
        findVoteRequest(explorer, id),
        () =>
          new PersonError(
            "Can't find a vote request with that id or title. `/proposals list` shows them.",
            "missing",
          ),
      );
      if (foundRequest && isOver(foundRequest.data, Date.now()))
        throw new PersonError(
          "That vote request has ended, so there's nothing left to watch. `/proposals list` shows the open ones.",
        );
      // Any of the request's ids may have been given.
      return foundRequest?.data.identity ?? id;
    },
    async nameOf(id, { names, directory, state }) {
      // Just after the start, no summary has been loaded yet.
      await names.load().catch(() => {});
      // Use the same name as in messages, even if the explorer no longer lists the request.
      const tracked = await state.open(trackedVoteRequests).get(requestKey(id));
      const request = tracked ? toVoteRequest(tracked) : { identity: id, title: null, contractId: null };
      if (request.title !== null) return names.voteRequest(request, MAX_WATCHED);
      await names.read([{ title: null, trackingCid: id, contractId: request.contractId }], NAMES_MS);
      const title = directory.entry("proposal", id)?.name ?? null;
      // It may have a title that could not be read.
      if (!tracked && title === null && names.actionOf(id) === undefined) return names.called(id);
      return names.voteRequest({ ...request, title }, MAX_WATCHED);
    },
  },
  settings: {
    topics: {
      new: false,
      outcome: true,
      reminders: true,
      decided: true,
      overdue: true,
      changes: true,
      votes: false,
    },
    before: [DAY],
  },
};

/** Returns the error for a choice that needs a current super validator. */
export const noLongerVoter = (): PersonError =>
  new PersonError("That's no longer a super validator, so it has no votes to cast.");

/** Lets a person watch the votes that one super validator has not cast. */
const voterWatch: WatchChoice = {
  name: "voter",
  description: "Get private reminders of votes that a super validator hasn't cast",
  owns: (subject) => voterIn(subject) !== undefined,
  screen: { name: "voter", subjectOf: voterSubject },
  subject: {
    option: { name: "sv", description: "The super validator", kinds: ["voter"] },
    // A button contains the stored subject.
    async check(named, { directory, explorer }) {
      const voter = voterIn(named) ?? named;
      const known = directory.entry("voter", voter) ?? directory.named(["voter"], voter)[0]?.entry;
      if (known?.active === false) throw noLongerVoter();
      if (!known) {
        const detail = await ifKnown(
          explorer.validator({ validatorId: voter }),
          () =>
            new PersonError(
              "Can't find a super validator with that name or id. Pick one of the suggestions as you type.",
              "missing",
            ),
        );
        if (detail?.data.isSv === false)
          throw new PersonError(
            "That isn't a super validator, so it has no votes. Pick one of the suggestions as you type.",
          );
      }
      return voterSubject(voter);
    },
    nameOf: (subject, { names }) => names.distinct(voterIn(subject) ?? subject),
  },
  settings: {
    topics: {
      new: false,
      outcome: false,
      reminders: true,
      decided: false,
      overdue: false,
      changes: false,
      votes: false,
    },
  },
};

/** Advice for when Discord refuses server events. */
const REFUSAL_WORDS = {
  permission: md`Discord refuses server events. Give me **Create Events** in this server, and they appear within ten minutes.`,
  full: md`This server has the maximum number of events. Delete some, and the missing ones appear within an hour.`,
} as const;

/** Subscriptions to vote requests. */
export const definition: FeedDefinition = {
  name: FIRST_FEED,
  description: "Announce vote requests in a channel",
  thing: "vote request",
  topics,
  options,
  threads: true,
  pings: "when a vote request opens or is open again, and with the reminders of short votes",
  // A reminder that came due while the explorer did not answer is sent although the role has been changed.
  restartedBy: ["reminders", "before"],
  watches: [proposalWatch, voterWatch],
  tagName: /govern|vote|proposal/i,

  async sample({ explorer, names, now }, subscription, mark) {
    const { subject } = subscription;
    const voter = voterIn(subject);
    const rows = (await ifAnswered(explorer.voteRequests({ page: 0, size: 100 })))?.data.content ?? [];
    const chosenRow = subject === null ? undefined : rows.find((row) => identityOf(row) === subject);
    const newestRow = chosenRow ?? rows.find((row) => isOpen(row, now)) ?? rows[0];
    const identity = newestRow && identityOf(newestRow);
    const foundRequest = identity ? await ifAnswered(findVoteRequest(explorer, identity)) : undefined;
    const explorersRequest = foundRequest?.data ?? (newestRow ? fromExplorer(newestRow, null) : madeUp(now));
    const request = { ...explorersRequest, ...names.seenOf(explorersRequest.identity) };
    const neededVotes = neededFor(request, await countSuperValidators(explorer));
    const messages = createMessages(names, () => now);
    const snapshot = { request, needed: neededVotes, revision: 0, isOver: false, missing: async () => null };
    const isReminded =
      hasTopic(subscription, definition, "reminders") && !hasTopic(subscription, definition, "new");
    if (!isReminded) return messages.announcement(snapshot, mark);
    const absence =
      voter === undefined ? { lines: [] } : notVotedYet([names.distinct(voter)], request, names);
    return messages.reminder(snapshot, votableUntil(request) ?? now + DAY, mark, absence);
  },

  standing: standingFor,

  async nowOf({ state, names }, subscription) {
    const { subject, guildId } = subscription;
    const voter = voterIn(subject);
    if (voter !== undefined)
      return names.isFormer({ name: voter, aliases: [voter] })
        ? md`⚠️ no longer a super validator`
        : md`waiting for the next deadline`;
    if (subject === null) {
      const mayHaveEvents = guildId !== null && hasTopic(subscription, definition, "calendar");
      const refusal = mayHaveEvents
        ? await calendarRefusal(state, calendarEvents, guildId, Date.now())
        : undefined;
      if (refusal) return md`⚠️ ${REFUSAL_WORDS[refusal]}`;
      return subscription.isPaused && mayHaveEvents ? md`server events are still made` : undefined;
    }
    const knownRequest = await state.open(trackedVoteRequests).get(requestKey(subject));
    if (!knownRequest) return md`not checked yet`;
    if (knownRequest.phase !== "open")
      return knownRequest.endUnconfirmed || !outcomeKnown(knownRequest.status)
        ? md`${OUTCOME_UNKNOWN}`
        : md`ended: ${statusText(knownRequest.status)}`;
    const { phase, next } = trackedStanding(
      knownRequest,
      await neededForTracked(knownRequest, async () => undefined),
      Date.now(),
    );
    // One that has been pushed off the only page of an explorer may still be voted on.
    if (!next && hasVanished(knownRequest)) return md`no longer listed by the explorer`;
    const phaseWords = PHASE_WORDS[phase];
    return phaseWords === undefined && next ? md`open, ${dateWords(next)}` : md`${phaseWords ?? "open"}`;
  },

  async serverLines(state, guildId, own, option) {
    const { size: count } = await representativesIn(state, guildId);
    const lines: Markdown[] = [];
    const channels = own.filter((each) => hasTopic(each, definition, "calendar"));
    if (channels.length > 0) {
      const mentions = join(
        channels.map(({ channelId }) => channelMention(channelId)),
        ", ",
      );
      const refusal = await calendarRefusal(state, calendarEvents, guildId, Date.now());
      lines.push(
        refusal === undefined
          ? md`🗓️ Calendar: open vote requests appear as server events (set in ${mentions}).`
          : md`⚠️ Calendar (set in ${mentions}): ${REFUSAL_WORDS[refusal]}`,
      );
    }
    const healths = state.open(channelHealths);
    const pinging = own.filter((each) => !each.isPaused && pingsMissing(each));
    const isPaused = await Promise.all(
      pinging.map(async ({ channelId }) => (await healths.get(channelId))?.paused === true),
    );
    const isPinging = isPaused.includes(false);
    const representativeWords = md`Representatives of ${countedWords(count, "super validator")}`;
    if (count > 0)
      lines.push(
        isPinging
          ? md`${representativeWords} get reminders. \`/voters list\`${option} shows who they are.`
          : md`${representativeWords} are set, but no channel pings them. \`/voters list\`${option} shows what's missing.`,
      );
    return lines;
  },

  async lastRead(state) {
    const lastRead = await state.open(progress).get(PROGRESS);
    return lastRead
      ? md`Vote requests were last checked ${timestamp(lastRead.completeAt)}.`
      : md`Vote requests haven't been checked yet.`;
  },
};
