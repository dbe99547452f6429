import type { Names } from "../directory/names.js";
import { type Ballot, type Records, readRecords, usualLead, type VoterRecord } from "../ledger/records.js";
import { identityOf } from "../ledger/vote-requests.js";
import { voterId } from "../ledger/votes.js";
import { roughly } from "../text/durations.js";
import { shortId } from "../text/ids.js";
import { bold, join, type Markdown, md, timestamp } from "../text/markdown.js";
import { countedWords } from "../text/numbers.js";
import { PersonError } from "../util/person-error.js";
import { present } from "../util/present.js";
import { address } from "./addresses.js";
import { MAX_LABEL, orNothing, pageOf, row, rowMenu } from "./parts.js";
import type { Screen } from "./view.js";
import { BALLOTS, statusText } from "./vote-parts.js";

const count = ({ ballots }: VoterRecord, accept: boolean): number =>
  ballots.filter((ballot) => ballot.accept === accept).length;

const missedIn = ({ ballots }: VoterRecord): number => ballots.filter(({ isMissed }) => isMissed).length;

const calledBy = ({ voter }: VoterRecord, names: Names): string => names.distinct(voter.name, 80);

/** Describes when a super validator votes, relative to the quorum date. */
function leadWords(record: VoterRecord): Markdown | false {
  const lead = usualLead(record);
  if (lead === undefined) return false;
  return lead >= 0
    ? md`usually votes ${roughly(lead)} before the quorum date`
    : md`usually votes ${roughly(-lead)} after the quorum date`;
}

/** Describes the votes that a record covers. */
function coverage({ requests, looked }: Records, names: Names): Markdown[] {
  if (requests.length === 0)
    return [md`-# I found no complete votes on the newest requests that have ended.`];
  // The contract's time may be that of the last vote.
  const openedTimes = requests.flatMap(
    (each) => names.seenOf(identityOf(each)).openedAt ?? each.createdAt ?? [],
  );
  const [oldest, newest] = [Math.min(...openedTimes), Math.max(...openedTimes)];
  const openingDays =
    openedTimes.length > 0 ? md`, opened from ${timestamp(oldest, "d")} to ${timestamp(newest, "d")}` : md``;
  const someMissing =
    requests.length < looked ? md` Votes are incomplete for ${looked - requests.length} more.` : md``;
  return [
    md`-# ${countedWords(requests.length, "vote request")} that ended${openingDays}.${someMissing} Each super validator is counted from its first vote. Requests decided early don't count as missed.`,
  ];
}

const summary = (record: VoterRecord): Markdown => {
  const [yes, no, missed] = [count(record, true), count(record, false), missedIn(record)];
  return join(
    [
      md`voted on ${bold(String(yes + no))} of ${bold(String(yes + no + missed))}`,
      md`${yes} yes`,
      md`${no} no`,
      md`${missed} missed`,
      record.isFormer && md`no longer a super validator`,
    ],
    " · ",
  );
};

/** Returns a row with a second line, if there is more to say. */
const rowOf = (line: Markdown, more: Markdown | false): Markdown => (more ? row(line, md`-# ${more}`) : line);

/** Lists how super validators voted on the last requests, most missed votes first. */
export const voters: Screen<"voters"> = async ({ page }, { explorer, names }) => {
  const reading = await readRecords(explorer, names, Date.now());
  const records = [...reading.data.voters].sort(
    (a, b) =>
      Number(a.isFormer) - Number(b.isFormer) ||
      missedIn(b) - missedIn(a) ||
      calledBy(a, names).localeCompare(calledBy(b, names)),
  );
  const shownRecords = pageOf(records, page);
  return {
    title: md`How super validators vote`,
    body: [
      ...orNothing(
        shownRecords.rows.map((record) =>
          rowOf(md`**${calledBy(record, names)}** · ${summary(record)}`, leadWords(record)),
        ),
        "votes",
      ),
      md``,
      ...coverage(reading.data, names),
    ],
    readings: [reading],
    pager: shownRecords,
    menus: [
      rowMenu(shownRecords.rows, "Open a super validator's votes…", (record) => ({
        label: calledBy(record, names),
        hint: `${missedIn(record)} missed`,
        to: address("voter", { id: voterId(record.voter) }),
      })),
    ],
    links: [{ label: "All vote requests", emoji: "📋", to: address("proposals", {}) }],
  };
};

/** Returns the time of a vote, relative to the quorum date if it was before it. Times are in epoch ms. */
function castWhen(castAt: number | null, voteBefore: number | null): Markdown {
  if (castAt === null || voteBefore === null) return md``;
  return castAt <= voteBefore
    ? md` · voted ${roughly(voteBefore - castAt)} before the quorum date`
    : md` · voted ${timestamp(castAt, "f")}`;
}

function ballotLine({ request, accept, isMissed, castAt }: Ballot, names: Names): Markdown {
  const title = names.voteRequest({ ...request, identity: identityOf(request) }, 120);
  const noVote = isMissed ? "⬛ missed" : "⚪ decided early";
  const sign = accept === null ? noVote : BALLOTS[`${accept}`];
  const castWords = castWhen(castAt, request.voteBefore);
  return row(md`${sign} · **${title}**`, md`-# ${statusText(request.status)}${castWords}`);
}

/** Shows one super validator's votes on the last requests. */
export const voter: Screen<"voter"> = async ({ id, page }, { explorer, names }) => {
  const reading = await readRecords(explorer, names, Date.now());
  const voterRecord = reading.data.voters.find(({ voter: { aliases } }) => aliases.includes(id));
  if (!voterRecord)
    throw new PersonError(
      "Can't find that super validator in recent votes. `/proposals voters` shows the ones that voted.",
      "missing",
    );
  const shownBallots = pageOf(voterRecord.ballots, page);
  await names.read(
    shownBallots.rows.map(({ request }) => request),
    1_000,
  );
  const leadLine = leadWords(voterRecord);
  return {
    title: md`Votes of ${calledBy(voterRecord, names)}`,
    body: present([
      summary(voterRecord),
      leadLine && md`-# ${leadLine}`,
      md``,
      ...shownBallots.rows.map((ballot) => ballotLine(ballot, names)),
      md``,
      ...coverage(reading.data, names),
    ]),
    readings: [reading],
    pager: shownBallots,
    menus: [
      rowMenu(shownBallots.rows, "Open a vote request…", ({ request }) => {
        const identity = identityOf(request);
        if (identity === null) return undefined;
        const label = names.voteRequest({ ...request, identity }, MAX_LABEL);
        return { label, hint: shortId(identity), to: address("voteRequest", { id: identity }) };
      }),
    ],
    watchedAs: voterId(voterRecord.voter),
    parent: address("voters", {}),
  };
};
