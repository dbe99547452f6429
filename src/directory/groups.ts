import { type Directory, SUPER_VALIDATORS } from "./directory.js";

/** Returns the id of the group of these validators. */
export const groupOf = (parties: readonly string[]): string => [...new Set(parties)].toSorted().join(" ");

/** Matches the space between two ids. A party's id may contain spaces itself, before its fingerprint. */
const BETWEEN = /(?<=::[0-9a-f]{8,}) /;

/** Splits a group's id into its members' ids. "All super validators" is one id, because its members change. */
export const idsIn = (id: string): readonly string[] => id.split(id.includes("::") ? BETWEEN : " ");

/** True if an id is one of a group. */
export const isGroup = (id: string): boolean => id === SUPER_VALIDATORS || idsIn(id).length > 1;

/** True if a validator belongs to a current super validator. */
export const isSuperValidator = (directory: Directory, party: string, name: string | null): boolean => {
  const voters = [
    directory.entry("voter", party),
    ...(name === null ? [] : directory.namesakes("voter", name)),
  ];
  // A former super validator is inactive.
  return voters.some((voter) => voter !== undefined && voter.active !== false);
};

/** Returns those of some validators that a subject is about: the only one, or members of its group. */
export function coveredBy(
  subject: string,
  parties: readonly string[],
  directory: Directory,
): readonly string[] {
  if (subject === SUPER_VALIDATORS)
    return parties.filter((party) => isSuperValidator(directory, party, directory.nameOf(party)));
  const memberIds = new Set(idsIn(subject));
  return parties.filter((party) => memberIds.has(party));
}

/** True if a subject is a validator, or a group to which it belongs now. */
export const covers = (subject: string, party: string, directory: Directory): boolean =>
  coveredBy(subject, [party], directory).length > 0;

/**
 * Returns the subscriptions whose settings apply to an event about these validators: all, except those to groups whose members among
 * them have subscriptions of their own.
 * @param isOfAll true if one of them belongs to all super validators, which the lists may not show
 */
export function ownOf<Each extends { readonly subject: string | null }>(
  subscriptions: readonly Each[],
  parties: readonly string[],
  directory: Directory,
  isOfAll = false,
): readonly Each[] {
  if (parties.length === 0) return subscriptions;
  const ownSubjects = new Set(subscriptions.map(({ subject }) => subject));
  const partiesWithoutOwn = new Set(parties.filter((party) => !ownSubjects.has(party)));
  const isConcerned = (subject: string): boolean => {
    const coveredParties = coveredBy(subject, parties, directory);
    const mayBeAny = coveredParties.length === 0 || (isOfAll && subject === SUPER_VALIDATORS);
    return mayBeAny
      ? partiesWithoutOwn.size > 0
      : coveredParties.some((party) => party === subject || partiesWithoutOwn.has(party));
  };
  return subscriptions.filter(({ subject }) => subject === null || isConcerned(subject));
}

/** Returns the validators that subscriptions are about, including the known members of groups. */
export const partiesIn = (
  subscriptions: readonly { readonly subject: string | null }[],
  directory: Directory,
): ReadonlySet<string> =>
  new Set(
    subscriptions.flatMap(({ subject }) => (subject === null ? [] : (membersOf(subject, directory) ?? []))),
  );

/** Returns the parties of a validator, or of the current members of a group. `undefined` if they are not known yet. */
export function membersOf(id: string, directory: Directory): readonly string[] | undefined {
  if (id !== SUPER_VALIDATORS) return idsIn(id);
  if (directory.readAt("voter") === undefined || directory.readAt("validator") === undefined)
    return undefined;
  return directory
    .entries("validator")
    .filter((each) => isSuperValidator(directory, each.id, each.name))
    .map((each) => each.id);
}
