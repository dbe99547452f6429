import { isLoading, KINDS, type Kind, type Match } from "../directory/directory.js";
import { oncePerThing } from "../directory/labels.js";
import type { Names } from "../directory/names.js";
import { ExplorerError, isUnknown } from "../explorer/errors.js";
import { DISCORD_LINK, isPartyId, shortId } from "../text/ids.js";
import { md } from "../text/markdown.js";
import { cut } from "../text/plain.js";
import { PersonError } from "../util/person-error.js";
import { address, type ParametersOf, type ScreenAddress } from "./addresses.js";
import { MAX_LABEL } from "./parts.js";
import type { Choice, Detour, ScreenContext, View } from "./view.js";

/** A screen that accepts a name instead of an id. */
type LookupTarget = Exclude<ParametersOf<"lookup">["of"], "lookup">;

/** Names of the kinds of things. */
export const KIND_WORDS: Readonly<Record<Kind, string>> = {
  validator: "validator",
  party: "party",
  proposal: "vote request",
  token: "token",
  voter: "super validator",
  group: "group",
};

/**
 * Kinds of things that can be looked up. Super validators are left out, because they are also parties and validators of the same
 * name, and so are groups.
 */
export const LOOKED_UP: readonly Kind[] = KINDS.filter((kind) => kind !== "voter" && kind !== "group");

/** Returns the screen of a match. */
const screenOf = ({ kind, entry: { id } }: Match): ScreenAddress => {
  if (kind === "group") return address("overview", {});
  return address(kind === "proposal" ? "voteRequest" : kind, { id });
};

type LookupContext = Pick<ScreenContext, "directory" | "names" | "explorer">;

/** A possible meaning of an id: its screen, and a request that fails if it does not exist. */
interface Guess {
  readonly what: string;
  readonly to: ScreenAddress;
  readonly exists: (context: LookupContext) => Promise<unknown>;
}

const foundDetour = ({ what, to }: Pick<Guess, "what" | "to">): Detour => ({
  to,
  note: md`-# That's a ${what}.`,
});

/** Matches ids by shape. Update ids and party fingerprints have 68 hex digits, contract ids have more (docs/ledger.md). */
const SHAPES = { event: /^[0-9a-f]{64,}:\d+$/i, hex: /^[0-9a-f]{64,}$/i };

/** Returns the things that an id of this shape may be, most specific first. */
function guesses(id: string): Guess[] {
  const guess = (what: string, to: ScreenAddress, exists: Guess["exists"]): Guess => ({ what, to, exists });
  if (SHAPES.event.test(id))
    return [
      guess("ledger event", address("event", { id }), ({ explorer }) => explorer.event({ eventId: id })),
    ];
  if (isPartyId(id)) {
    return [
      guess("validator", address("validator", { id }), async ({ explorer }) => {
        const { data } = await explorer.partyTypes({ partyId: id });
        if (!data.isValidator) throw new ExplorerError("missing", "No validator");
        // It may no longer be one.
        await explorer.validator({ validatorId: id });
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

/** Returns the first guess that exists. @throws {ExplorerError} if none exists and one could not be checked */
async function firstThatIs(all: readonly Guess[], context: LookupContext): Promise<Guess | undefined> {
  const answers = await Promise.allSettled(all.map((guess) => guess.exists(context)));
  const index = answers.findIndex(({ status }) => status === "fulfilled");
  if (index >= 0) return all[index];
  for (const answer of answers) {
    const error: unknown = answer.status === "rejected" ? answer.reason : undefined;
    if (error !== undefined && !isUnknown(error)) throw error;
  }
  return undefined;
}

type LookupNames = Pick<Names, "voteRequest">;

/** Returns a match's name. Vote requests with the same title are told apart as in lists. */
const nameIn = ({ kind, entry: { id, name } }: Match, names: LookupNames): string | null =>
  kind === "proposal" ? names.voteRequest({ identity: id, title: name }, MAX_LABEL) : name;

/** Returns a choice for each match. Two that look the same are told apart by their ids. */
function toChoices(
  matches: readonly Match[],
  names: LookupNames,
  toScreen: (match: Match) => ScreenAddress,
): readonly Choice[] {
  const named = matches.map((match) => ({ ...match, label: nameIn(match, names) }));
  return named.map((match) => {
    const { label } = match;
    const { id, note } = match.entry;
    const isAlone = named.every((each) => each === match || each.label !== label || each.entry.note !== note);
    return {
      label: label ?? shortId(id),
      hint: [
        KIND_WORDS[match.kind],
        note,
        label === null || (note !== undefined && isAlone) ? "" : shortId(id),
      ]
        .filter(Boolean)
        .join(" · "),
      to: toScreen(match),
    };
  });
}

const MAX_CHOICES = 25;

/** The name and the kinds of the things that each screen opens. */
const NAMED: Readonly<Record<LookupTarget, readonly [what: string, kinds: readonly Kind[]]>> = {
  validator: ["validator", ["validator"]],
  party: ["party", ["party", "validator"]],
  rewards: ["party", ["party", "validator"]],
  voteRequest: ["vote request", ["proposal"]],
  votes: ["vote request", ["proposal"]],
  token: ["token", ["token"]],
};

/** Matches an id of Discord. */
const SNOWFLAKE = /^\d{17,20}$/;
/** Matches a mention of a member, a role or a channel. */
const MENTION = /^<?(?:@[!&]?|#)\d{17,20}>?$/;
/** Returns the error for an id or a link of Discord. */
export const ofDiscord = () =>
  new PersonError("That's a Discord id or link. Paste an id from the ledger, or type a name.", "missing");

/** Minimum number of characters that are searched for. Shorter texts match too much. */
export const MIN_SEARCHED = 3;
const tooShort = () =>
  new PersonError(`Type at least ${MIN_SEARCHED} characters of a name, or paste a full id.`, "missing");
const isTooShort = (text: string): boolean => [...text.trim()].length < MIN_SEARCHED;
/** Matches that are named in the text. The menu has all of them. */
const SHOWN_MATCHES = 5;

/** Returns exact matches by name, as it is or as lists show it, or else similar ones. */
function matchesFor({ directory, names }: LookupContext, kinds: readonly Kind[], text: string) {
  const namedMatches = names.named(kinds, text);
  const isSearched = namedMatches.length === 0 && !isTooShort(text);
  // Half of the matches may be the same things as parties.
  const foundMatches = isSearched ? directory.suggest(kinds, text, 2 * MAX_CHOICES) : namedMatches;
  return { exact: namedMatches.length > 0, matches: oncePerThing(foundMatches).slice(0, MAX_CHOICES) };
}

/** Returns a view that asks which match is meant, with a menu that opens each. */
const whichOne = (
  text: string,
  matches: readonly Match[],
  names: LookupNames,
  toScreen: (match: Match) => ScreenAddress,
): View => {
  const choices = toChoices(matches, names, toScreen);
  return {
    title: md`Which one do you mean?`,
    body: [
      md`${matches.length === MAX_CHOICES ? `${MAX_CHOICES} or more` : matches.length} things match “${cut(text, 100)}”.`,
      ...choices
        .slice(0, SHOWN_MATCHES)
        .map(({ label, hint }) => md`- **${cut(label, 100)}** · ${cut(hint ?? "", 100)}`),
    ],
    // Its links contain the typed text, which must not be stored.
    isNothing: true,
    menus: [
      {
        placeholder: "Pick one…",
        choices,
      },
    ],
  };
};

/** True for a text that is no name, but has the form of a party's id. */
const isLikeParty = (text: string): boolean => text.includes("::");

/** Opens a screen by a name: directly if one thing matches, or with a menu if several do. */
function byName(text: string, of: LookupTarget, sources: LookupContext): View | Detour {
  const { directory, names } = sources;
  const [what, kinds] = NAMED[of];
  const { exact, matches } = matchesFor(sources, kinds, text);
  const toScreen = ({ entry: { id } }: Match) => address(of, { id });
  const [only, ...others] = matches;
  if (only && others.length === 0)
    return {
      to: toScreen(only),
      note: exact ? undefined : md`-# The only ${what} that matches “${cut(text, 100)}”.`,
    };
  if (only) return whichOne(text, matches, names, toScreen);
  if (isLoading(directory, kinds) && !isLikeParty(text))
    throw new PersonError(
      `Names are still loading. Try again in a minute, or paste the full id of the ${what}.`,
      "missing",
    );
  if (isTooShort(text)) throw tooShort();
  // It matches no name, but may be an id of an unknown shape.
  return { to: address(of, { id: text }) };
}

/** Opens the thing that a pasted id or name refers to, or offers the possible matches. */
export const lookup = async (
  { id, of }: ParametersOf<"lookup">,
  context: LookupContext,
): Promise<View | Detour> => {
  const { directory, names } = context;
  if (DISCORD_LINK.test(id) || MENTION.test(id) || (of === "lookup" && SNOWFLAKE.test(id))) throw ofDiscord();
  if (of !== "lookup") return byName(id, of, context);
  // The directory knows a vote request by its first contract id, even if that is no longer its current one. Parties are skipped,
  // because a party may also be a validator.
  const [known] = directory
    .named(LOOKED_UP, id)
    .filter(({ entry, kind }) => entry.id === id && kind !== "party");
  if (known) return foundDetour({ what: KIND_WORDS[known.kind], to: screenOf(known) });
  const right = await firstThatIs(guesses(id), context);
  if (right) return foundDetour(right);

  const { exact, matches } = matchesFor(context, LOOKED_UP, id);
  const [only] = matches;
  if (!only && isTooShort(id)) throw tooShort();
  if (!only && isLoading(directory, LOOKED_UP) && !isLikeParty(id))
    throw new PersonError(
      "Names are still loading. Try again in a minute, or paste the full id of what you're looking for.",
      "missing",
    );
  if (!only) throw new ExplorerError("missing", "No match");
  if (matches.length > 1) return whichOne(id, matches, names, screenOf);
  const foundThing = { what: KIND_WORDS[only.kind], to: screenOf(only) };
  return exact
    ? foundDetour(foundThing)
    : { to: foundThing.to, note: md`-# That's a ${foundThing.what}, the only match for “${cut(id, 100)}”.` };
};
