import type { Names } from "../directory/names.js";
import type { Reading } from "../explorer/service.js";
import { type Ballot, type Records, readRecords, usualLead, type VoterRecord } from "../ledger/records.js";
import { identityOf } from "../ledger/vote-requests.js";
import { voterId, voterSubject } from "../ledger/votes.js";
import { roughly } from "../text/durations.js";
import { shortId } from "../text/ids.js";
import { bold, counted, join, type Markdown, md, timestamp } from "../text/markdown.js";
import { cut } from "../text/plain.js";
import { PersonError } from "../util/person-error.js";
import { address } from "./addresses.js";
import { orNothing, pageOf, row, rowMenu, watchLink } from "./parts.js";
import type { Screen } from "./view.js";
import { statusText } from "./vote-parts.js";

const count = ({ ballots }: VoterRecord, accept: boolean | null): number =>
  ballots.filter((ballot) => ballot.accept === accept).length;

const calledBy = ({ voter }: VoterRecord, names: Names): string => cut(names.called(voter.name), 80);

/** How early one votes, or early and late: relative to when enough must have voted. */
function leadWords(record: VoterRecord): Markdown | false {
  const lead = usualLead(record);
  if (lead === undefined) return false;
  return lead >= 0
    ? md`usually ${roughly(lead)} before the deadline`
    : md`usually ${roughly(-lead)} after the first deadline`;
}

/** Which votes a record covers. */
function coverage({ requests, looked }: Records): Markdown[] {
  const [newest, oldest] = [requests[0], requests.at(-1)];
  if (!newest || !oldest) return [md`-# The explorer gives the votes of no request that has ended.`];
  const some =
    requests.length < looked ? md` Votes are incomplete for ${looked - requests.length} more.` : md``;
  return [
    md`-# ${counted(requests.length, "vote request")} that ended, opened from ${timestamp(oldest.createdAt, "d")} to ${timestamp(newest.createdAt, "d")}.${some} A super validator counts from its first vote among them.`,
  ];
}

const summary = (record: VoterRecord): Markdown => {
  const missed = count(record, null);
  const all = record.ballots.length;
  return join(
    [
      md`voted on ${bold(String(all - missed))} of ${bold(String(all))}`,
      md`${count(record, true)} yes`,
      md`${count(record, false)} no`,
      md`${missed} missed`,
    ],
    " · ",
  );
};

/** A line, with another one below it where there is something more to say. */
const rowOf = (line: Markdown, more: Markdown | false): Markdown => (more ? row(line, md`-# ${more}`) : line);

/** How each super validator has voted on the last requests; who missed most comes first. */
export const voters: Screen<"voters"> = async ({ page }, { explorer, names }) => {
  const reading = await readRecords(explorer, Date.now());
  const records = [...reading.data.voters].sort(
    (a, b) => count(b, null) - count(a, null) || calledBy(a, names).localeCompare(calledBy(b, names)),
  );
  const shown = pageOf(records, page);
  return {
    title: md`How super validators vote`,
    tone: "neutral",
    body: [
      ...orNothing(
        shown.rows.map((record) =>
          rowOf(md`**${calledBy(record, names)}** · ${summary(record)}`, leadWords(record)),
        ),
        "votes",
      ),
      md``,
      ...coverage(reading.data),
    ],
    readings: [reading],
    pager: shown,
    menus: [
      rowMenu(shown.rows, "Open one's votes…", (record) => ({
        label: calledBy(record, names),
        hint: `${count(record, null)} missed`,
        to: address("voter", { id: voterId(record.voter) }),
      })),
    ],
    links: [{ label: "All vote requests", emoji: "📋", to: address("proposals", {}) }],
  };
};

const SIGNS = { true: "✅ yes", false: "❌ no", null: "⬛ missed" } as const;

function ballotLine({ request, accept, castAt }: Ballot, names: Names): Markdown {
  const title = cut(names.voteRequest({ ...request, identity: identityOf(request) }), 120);
  const when =
    castAt === null || request.voteBefore === null
      ? md``
      : castAt <= request.voteBefore
        ? md` · ${roughly(request.voteBefore - castAt)} before the deadline`
        : md` · ${timestamp(castAt, "f")}`;
  return row(md`${SIGNS[`${accept}`]} · **${title}**`, md`-# ${statusText(request.status)}${when}`);
}

/** One super validator's votes on the last requests. */
export const voter: Screen<"voter"> = async ({ id, page }, { explorer, names }) => {
  const reading: Reading<Records> = await readRecords(explorer, Date.now());
  const record = reading.data.voters.find(({ voter: { aliases } }) => aliases.includes(id));
  if (!record)
    throw new PersonError(
      "That super validator is seen in none of the last votes. `/proposals voters` shows those who are.",
      "missing",
    );
  const shown = pageOf(record.ballots, page);
  await names.read(
    shown.rows.map(({ request }) => request),
    1_000,
  );
  const lead = leadWords(record);
  return {
    title: md`Votes of ${calledBy(record, names)}`,
    tone: "neutral",
    body: [
      summary(record),
      ...(lead ? [md`-# ${lead}`] : []),
      md``,
      ...shown.rows.map((ballot) => ballotLine(ballot, names)),
      md``,
      ...coverage(reading.data),
    ],
    readings: [reading],
    pager: shown,
    menus: [
      rowMenu(shown.rows, "Open a vote request…", ({ request }) => {
        const identity = identityOf(request);
        if (identity === null) return undefined;
        const label = names.voteRequest({ ...request, identity });
        return { label, hint: shortId(identity), to: address("voteRequest", { id: identity }) };
      }),
    ],
    links: [watchLink("governance", voterSubject(voterId(record.voter)))],
    parent: address("voters", {}),
  };
};
