import type { CodeFault } from "../../sandbox/faults/code-fault.js";

/** A fault that people can read. */
export interface Fault extends CodeFault {
  /** The wrong statement that people read. */
  readonly told: string;
  /** A seed whose history shows the fault, and the number of its days, six if missing. */
  readonly seed: number;
  readonly days?: number;
  /** Further arguments of the simulation. */
  readonly given?: readonly string[];
}

/** Faults that were found by comparing 0.2.0 with the ledger, by name. The simulation must find each of them. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  "old-newcomer": {
    told: "a validator that joined long ago is new, because another one left the list",
    seed: 6,
    file: "src/feeds/newcomers/watch.ts",
    changes: [
      ["lastKnown < 0 ? rows : rows.slice(0, lastKnown)", "lastKnown < 0 ? rows : rows"],
      ['isWhole ? "done" : yield* completeBaseline()', '"done"'],
    ],
    given: ["--validators", "130"],
  },
  "hundred-newcomers": {
    told: "100 validators joined, of 120",
    seed: 6,
    file: "src/feeds/newcomers/watch.ts",
    changes: [["if (isWhole) {", "if (isWhole && rows.length === 0) {"]],
  },
  "listed-late": {
    told: "110 validators joined, of 120 of which ten are listed late",
    seed: 21,
    days: 31,
    file: "src/feeds/newcomers/watch.ts",
    changes: [
      ["!mayBeMore && !(await isAnyOverlooked(listed))", "!mayBeMore"],
      ["joined = [...unknown, ...others]", "joined = [...joined, ...others]"],
    ],
  },
  "null-is-silent": {
    told: "a validator without the time of a report went silent, in a digest",
    seed: 6,
    file: "src/feeds/digest/chronicle.ts",
    changes: [["unknown: undefined }", 'unknown: "silent" }']],
  },
  "short-outage": {
    told: "nothing of a validator that was silent for hours, in a digest",
    seed: 6,
    file: "src/feeds/digest/collect.ts",
    changes: [
      [
        'silent: namesOf("silent")',
        'silent: listOf(namesOf("silent").named.filter((name) => !namesOf("back").named.includes(name)))',
      ],
    ],
  },
  "digest-without-missed": {
    told: "nothing in a digest of a request that opened and ended during an absence",
    seed: 7,
    file: "src/feeds/digest/vote-facts.ts",
    changes: [["sawEnd(request) ?", 'sawEnd(request) && request.phase === "closed" ?']],
  },
  "digest-without-unknown": {
    told: "nothing in a digest of a request whose outcome is unknown",
    seed: 6,
    file: "src/feeds/digest/vote-facts.ts",
    changes: [
      [
        "const closedRequests = newestFirst(endingTime);",
        "const closedRequests = newestFirst(endingTime).filter((each) => !each.endUnconfirmed);",
      ],
    ],
  },
  "digest-without-late": {
    told: "nothing in a digest of a request that the explorer listed late",
    seed: 6,
    file: "src/feeds/digest/vote-facts.ts",
    changes: [
      [
        "return isListedLater ? seenAt : (openedAt ?? undefined);",
        "return isListedLater && seenAt === 0 ? seenAt : (openedAt ?? undefined);",
      ],
    ],
  },
  participation: {
    told: "100% of the votes were cast, of which a third were",
    seed: 6,
    file: "src/feeds/digest/vote-facts.ts",
    changes: [
      [
        "each.pending === null ? (superValidators ?? Number.NaN) : castIn(each) + each.pending",
        "castIn(each) + (each.pending ?? 0)",
      ],
    ],
  },
  "joined-again": {
    told: "a validator joined that was unlisted for a day, in a digest",
    seed: 6,
    file: "src/feeds/digest/chronicle.ts",
    changes: [["= { ...known?.activity };", "= {};"]],
  },
  "drill-unread": {
    told: "the validators could not be read, in the drill of a digest",
    seed: 4,
    file: "src/feeds/digest/index.ts",
    changes: [
      [
        "return digestView(await collectFacts(sources, scope), {",
        "return digestView({ ...(await collectFacts(sources, scope)), validators: null }, {",
      ],
    ],
  },
  "unlisted-is-back": {
    told: "a member of a group is back, which the explorer no longer lists",
    seed: 6,
    file: "src/feeds/validator/silences.ts",
    changes: [["...(isGone && { isGone }), ", ""]],
  },
  "removed-is-back": {
    told: "all members of a group are back, the last of which is no longer watched",
    seed: 4,
    file: "src/feeds/validator/messages.ts",
    changes: [["if (back + gone === 0) return md`⚪ No longer watched`;", ""]],
  },
  "removed-is-silent": {
    told: "a validator is silent, in an alert whose subscription was removed",
    seed: 4,
    file: "src/delivery/janitor.ts",
    changes: [["mayClose ? await farewellsTo(removal) : ", ""]],
  },
  "never-listed-again": {
    told: "nothing of a validator that is listed again",
    seed: 2,
    file: "src/feeds/validator/decide.ts",
    changes: [["isSeen || (lastReport !== undefined", "isSeen && (lastReport !== undefined && now < 0"]],
  },
  "most-run": {
    told: "most run a version that fewer than half run",
    seed: 8,
    days: 10,
    file: "src/ledger/versions.ts",
    changes: [["2 * (counts.get(mostCommon) ?? 0) > active", "(counts.get(mostCommon) ?? 0) <= active"]],
  },
  future: {
    told: "a validator was seen in three hours",
    seed: 4,
    file: "src/util/clock.ts",
    changes: [["at === null || at > now + CLOCK_ERROR_MS ? null : Math.min(at, now)", "now < 0 ? null : at"]],
  },
  "future-price": {
    told: "a price of a time in five hours",
    seed: 6,
    file: "src/screens/price.ts",
    changes: [["pastTime(updateTimestamp, readAt)", "updateTimestamp"]],
  },
  "hold-stays": {
    told: "the explorer's newest data is of a time that it has passed",
    seed: 4,
    file: "src/feeds/validator/holds.ts",
    changes: [["newestAt - openHold.newestAt >= stepMs", "newestAt < 0"]],
  },
  "kind-by-title": {
    told: "a request that has its own title belongs to another kind",
    seed: 6,
    file: "src/directory/request-facts.ts",
    changes: [
      [
        "toTag(title) ?? (identity === null ? undefined : facts.actionOf(identity))",
        "toTag(title) ?? title ?? (identity === null ? undefined : facts.actionOf(identity))",
      ],
    ],
  },
  "undecided-without-count": {
    told: "nothing of enough votes, if the abstentions are not counted",
    seed: 6,
    file: "src/feeds/governance/watch.ts",
    changes: [
      [
        "isIncomplete ? await superValidators() : undefined",
        "isIncomplete ? undefined : await superValidators()",
      ],
    ],
  },
  "unknown-is-open": {
    told: "a request whose outcome is unknown can be voted on",
    seed: 6,
    file: "src/feeds/governance/tracking.ts",
    changes: [["isGone: tracked.endUnconfirmed,", "isGone: false,"]],
  },
  "opened-after": {
    told: "several requests opened after a time at which they were hours old",
    seed: 6,
    file: "src/feeds/governance/digest.ts",
    changes: [["since !== null && earliest < since", "since !== null && earliest < 0"]],
  },
  "summary-in-progress": {
    told: "the state of several requests, in a message that is never edited",
    seed: 6,
    file: "src/feeds/governance/digest.ts",
    changes: [["...lastingFacts(row, now)]", "...lastingFacts(row, now), md`In progress`]"]],
  },
  "former-voter": {
    told: "a former super validator has not voted",
    seed: 6,
    file: "src/directory/names.ts",
    changes: [
      [
        'directory.entry("voter", voterId(voter))?.active === false',
        'directory.entry("voter", voterId(voter))?.active === null',
      ],
    ],
  },
  "decided-forever": {
    told: "enough have voted yes, after one of them changed its vote",
    seed: 6,
    file: "src/feeds/governance/decisions.ts",
    changes: [
      [
        "if (needed === undefined) return undefined;",
        "if (needed === undefined || needed > 0) return undefined;",
      ],
    ],
  },
  "two-names": {
    told: "another name of a request that the explorer no longer lists",
    seed: 6,
    file: "src/feeds/governance/definition.ts",
    changes: [["if (request.title !== null) return", 'if (request.title === "") return']],
  },
  "end-without-time": {
    told: "a vote ended, without the time at which the bot saw it",
    seed: 6,
    file: "src/screens/vote-times.ts",
    changes: [[', limit], ", ");', ', limit && false], ", ");']],
  },
  "rejected-either-way": {
    told: "a request was rejected by too few yes votes in the end, long before that",
    seed: 6,
    file: "src/screens/vote-times.ts",
    changes: [["return wasEarly || isNo ?", "return wasEarly && now < 0 ?"]],
  },
  "end-at-its-start": {
    told: "a vote ended between two times of which both are too early",
    seed: 6,
    file: "src/screens/vote-times.ts",
    changes: [['timestamp(by, by - after < HALF_DAY ? "t" : "f")', 'timestamp(after, "t")']],
  },
  "null-in-bar": {
    told: "a bar of votes that are not known",
    seed: 6,
    file: "src/screens/vote-parts.ts",
    changes: [
      ["if (yes === null && no === null) return md`tally unavailable`;", ""],
      ["if (yes === null || no === null || pending === null) return md`tally incomplete`;", ""],
      ["const counts = [yes, no, pending];", "const counts = [yes ?? 0, no ?? 0, pending ?? 0];"],
    ],
  },
  "null-is-zero": {
    told: "no yes votes, if they are not counted",
    seed: 4,
    file: "src/screens/vote-parts.ts",
    changes: [['count === null ? "?" : grouped(count)', 'count === null ? "0" : grouped(count)']],
  },
  "nobody-voted": {
    told: "nobody has voted, if the votes are not known",
    seed: 4,
    file: "src/screens/votes.ts",
    changes: [['yes === 0 && no === 0 ? "Nobody', '!yes && !no ? "Nobody']],
  },
  "closed-choice": {
    told: "a closed request can be voted on, in a suggestion",
    seed: 6,
    file: "src/directory/entries.ts",
    changes: [["active: isOpen(request, now) && mayStillVote(request, standing)", "active: true"]],
  },
  "closed-choice-date": {
    told: "a closed request and the date until which it could be voted on, in a suggestion",
    seed: 6,
    file: "src/directory/entries.ts",
    changes: [
      ['next && phase !== "ended" ?', "request.voteBefore ?"],
      ["next.name}", 'next?.name ?? "quorum by"}'],
      ["new Date(next.at)", "new Date(next?.at ?? request.voteBefore)"],
    ],
  },
  "green-choice": {
    told: "a silent validator reports, in a suggestion",
    seed: 6,
    file: "src/discord/autocomplete.ts",
    changes: [
      [
        "return STANDING_SIGNS[standing];",
        'return STANDING_SIGNS[standing === "silent" ? "reporting" : standing];',
      ],
    ],
  },
  nameless: {
    told: "a request without a title, whose action is in its contract",
    seed: 6,
    file: "src/ledger/vote-requests.ts",
    changes: [
      ["action.tag === null && rawPayload !== null", "action.tag === null && rawPayload === actionConfig"],
    ],
  },
  "first-move": {
    told: "nothing of a move of the price within the first hour, and no price in the first digest",
    seed: 6,
    file: "src/ledger/prices.ts",
    changes: [["samples.find(([at, usd]) => at > since && at <= now && Number(usd) !== 0)", "undefined"]],
  },
  "known-from": {
    told: "nothing of the time from which moves of the price are known",
    seed: 6,
    file: "src/feeds/price/judge.ts",
    changes: [
      ['if (when !== "moves") return undefined;', 'if (when !== "moves" || now > 0) return undefined;'],
    ],
  },
  "two-signs": {
    told: "two signs in front of a number",
    seed: 6,
    file: "src/screens/price.ts",
    changes: [["bold(signedPercent(change))", '(change < 0 ? "▼" : "▲") + signedPercent(change)']],
  },
  "uneven-digits": {
    told: "percentages with different numbers of digits in a column",
    seed: 8,
    days: 10,
    file: "src/text/numbers.ts",
    changes: [["fixed((part / whole) * 100, 1)", "grouped((part / whole) * 100, 1)"]],
  },
  "at-the-limit": {
    told: "a price passed a limit that it has only reached",
    seed: 6,
    file: "src/feeds/price/judge.ts",
    changes: [['when === "above" ? usd > value', 'when === "above" ? usd >= value']],
  },
  "drill-without-alert": {
    told: "a price that passes no limit, in the drill of an alert about that",
    seed: 4,
    file: "src/feeds/price/judge.ts",
    changes: [["to: isPast ? price : beyond", "to: isPast || beyond ? price : price"]],
  },
  "back-at-the-limit": {
    told: "an alert on a price repeats after the price was back at its limit",
    seed: 4,
    file: "src/feeds/price/judge.ts",
    changes: [["decimalOf(backLimit(condition));", "decimalOf(condition.value);"]],
  },
  "back-words": {
    told: "a move is told again after the price was back, and not the change",
    seed: 4,
    file: "src/feeds/price/judge.ts",
    changes: [["`the change was back within", "`the price was back by 1%:"]],
  },
  "response-lost": {
    told: "two people that their responses to an alert were kept, of which one was not",
    seed: 6,
    file: "src/storage/state.ts",
    changes: [["state.commit([collection.expect(id, before), write])", "state.commit([write])"]],
  },
  "done-untold": {
    told: "a one-time price alert has been sent, before it was",
    seed: 2,
    days: 1,
    file: "src/feeds/price/alerts.ts",
    changes: [[' === "once" && (await lastAlertOf(state, subscription)) !== undefined', ' === "once"']],
  },
  "role-without-permission": {
    told: "a role is pinged in a channel where the person who mapped it may not ping it",
    seed: 6,
    file: "src/feeds/governance/voters.ts",
    changes: [["await isPingable(reader, place, who.id, setBy)", 'setBy !== ""']],
  },
};
