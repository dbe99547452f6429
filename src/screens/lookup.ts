import { KINDS, type Kind, type Match } from "../directory/directory.js";
import { ExplorerError } from "../explorer/errors.js";
import { shortId } from "../text/ids.js";
import { md } from "../text/markdown.js";
import { cut } from "../text/plain.js";
import { type Address, address } from "./addresses.js";
import { isPartyId } from "./parts.js";
import type { Choice, Detour, Screen, ScreenContext } from "./view.js";

const WORDS: Readonly<Record<Kind, string>> = {
  validator: "validator",
  party: "party",
  proposal: "vote request",
  token: "token",
};

/** The screen of each kind of thing. */
export const screenOf = ({ kind, entry: { id } }: Match): Address => {
  switch (kind) {
    case "validator":
      return address("validator", { id });
    case "party":
      return address("party", { id });
    case "proposal":
      return address("voteRequest", { id });
    case "token":
      return address("token", { id });
  }
};

/** One thing that an id may be: its screen, and a request that fails where there is no such thing. */
interface Guess {
  readonly what: string;
  readonly to: Address;
  readonly exists: (context: ScreenContext) => Promise<unknown>;
}

const found = ({ what, to }: Pick<Guess, "what" | "to">): Detour => ({ to, note: md`-# That is a ${what}.` });

/** An update's id, and a party's fingerprint, are both 68 hex digits; a contract's id is longer (docs/ledger.md). */
const SHAPES = { event: /^[0-9a-f]{64,}:\d+$/i, hex: /^[0-9a-f]{64,}$/i };

/** What an id of that shape may be, the more particular first. */
function guesses(id: string): Guess[] {
  const guess = (what: string, to: Address, exists: Guess["exists"]): Guess => ({ what, to, exists });
  if (SHAPES.event.test(id))
    return [
      guess("ledger event", address("event", { id }), ({ explorer }) => explorer.event({ eventId: id })),
    ];
  if (isPartyId(id)) {
    return [
      guess("validator", address("validator", { id }), async ({ explorer }) => {
        const { data } = await explorer.partyTypes({ partyId: id });
        if (!data.isValidator) throw new ExplorerError("missing", "No validator");
      }),
      guess("party", address("party", { id }), ({ explorer }) => explorer.party({ partyId: id })),
    ];
  }
  if (!SHAPES.hex.test(id)) return [];
  if (id.length <= 68)
    return [
      guess("ledger update", address("update", { id }), ({ explorer }) =>
        explorer.updateDetails({ updateId: id }),
      ),
    ];
  return [
    guess("vote request", address("voteRequest", { id }), ({ explorer }) => explorer.voteRequest({ id })),
    guess("token", address("token", { id }), ({ explorer }) => explorer.token({ contractId: id })),
    guess("contract", address("contract", { id }), ({ explorer }) => explorer.contract({ contractId: id })),
  ];
}

/** The first guess that is so. @throws {ExplorerError} where none is and one could not be checked */
async function firstThatIs(all: readonly Guess[], context: ScreenContext): Promise<Guess | undefined> {
  const answers = await Promise.allSettled(all.map((guess) => guess.exists(context)));
  const index = answers.findIndex(({ status }) => status === "fulfilled");
  if (index >= 0) return all[index];
  for (const answer of answers) {
    const error: unknown = answer.status === "rejected" ? answer.reason : undefined;
    const isNo =
      error instanceof ExplorerError && (error.problem === "missing" || error.problem === "rejected");
    if (error !== undefined && !isNo) throw error;
  }
  return undefined;
}

const toChoice = (match: Match): Choice => ({
  label: match.entry.name ?? shortId(match.entry.id),
  hint: `${WORDS[match.kind]} · ${match.entry.note ?? shortId(match.entry.id)}`,
  to: screenOf(match),
});

const MAX_CHOICES = 25;

/** Whatever was pasted: it opens what that turns out to be, or offers what it may be. */
export const lookup: Screen<"lookup"> = async ({ id }, context) => {
  const { directory } = context;
  const named = directory.named(KINDS, id);
  // A vote request goes by its first contract id, whatever its last is; a validator is a party too.
  const [known] = named.filter(({ entry, kind }) => entry.id === id && kind !== "party");
  if (known) return found({ what: WORDS[known.kind], to: screenOf(known) });
  const right = await firstThatIs(guesses(id), context);
  if (right) return found(right);

  const matches = oncePerThing(named.length > 0 ? named : directory.search(KINDS, id, MAX_CHOICES));
  const [only] = matches;
  if (!only) throw new ExplorerError("missing", "Nothing is known by that");
  if (matches.length === 1) return found({ what: WORDS[only.kind], to: screenOf(only) });
  return {
    title: md`Which one do you mean?`,
    tone: "neutral",
    body: [
      md`${matches.length === MAX_CHOICES ? `${MAX_CHOICES} or more` : matches.length} things are like “${cut(id, 100)}”.`,
    ],
    readings: [],
    menus: [{ placeholder: "Open one of them…", choices: matches.map(toChoice) }],
    parent: address("help", {}),
  };
};

/** A validator is a party too: it is offered once, as what says more. */
function oncePerThing(matches: readonly Match[]): readonly Match[] {
  const particular = new Set(matches.filter(({ kind }) => kind !== "party").map(({ entry }) => entry.id));
  return matches.filter(({ kind, entry }) => kind !== "party" || !particular.has(entry.id));
}
