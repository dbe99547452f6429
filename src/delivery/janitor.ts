import type { CollectionDefinition, Owner, SubscriptionPattern } from "../storage/collection.js";
import { changeDocument, type State, unreadableDocuments } from "../storage/state.js";
import type { Write } from "../storage/store.js";
import { filterInTurns, inPieces } from "../util/event-loop.js";
import { addTo } from "../util/groups.js";
import { present } from "../util/present.js";
import {
  announcements,
  deliveryCollections,
  farewells,
  type Subscription,
  subscriptionDocuments,
  watchers,
} from "./collections.js";
import { idOf, type SubscriptionKey, type Subscriptions } from "./subscriptions.js";

/** Deletes documents when their owner is removed. No other code deletes documents that have another owner. */
export interface Janitor {
  /**
   * Deletes a subscription, and everything that belongs only to it.
   * @returns false if it is not there, because it was removed or its subject was changed meanwhile
   */
  removeSubscription(key: SubscriptionKey): Promise<boolean>;
  /** Deletes the subscriptions of channels and everything that belongs to them. */
  removeChannels(channelIds: readonly string[]): Promise<void>;
  /** Deletes all data about a person. Returns the number of removed subscriptions. */
  forgetPerson(userId: string): Promise<number>;
  /**
   * Deletes feed documents without a subscription. A poll that was running while the subscription was removed
   * may have written one.
   */
  sweep(): Promise<void>;
  /** Returns the writes that delete all documents of these subjects in a feed's collections. */
  endSubjects(collections: readonly CollectionDefinition[], subjects: readonly string[]): Promise<Write[]>;
}

/**
 * Checks that no two collections have the same name, because one's documents would be deleted by the other's owners. Those that all
 * networks share cannot belong to subscriptions, because each network knows only its own.
 * @throws {RangeError}
 */
function checkDefinitions(definitions: readonly CollectionDefinition[]): void {
  const byName = new Map<string, CollectionDefinition>();
  for (const each of definitions) {
    if (each.isShared && each.owners?.some(({ kind }) => kind === "subscription"))
      throw new RangeError(`${each.name} is shared by all networks and belongs to subscriptions`);
    const other = byName.get(each.name);
    if (other && other !== each) throw new RangeError(`Two collections are named ${each.name}`);
    byName.set(each.name, each);
  }
}

/** Returns the collections with an owner of a kind. A collection with several such owners is returned for each. */
function ownedBy<Kind extends Owner["kind"]>(definitions: readonly CollectionDefinition[], kind: Kind) {
  const isOfKind = (owner: Owner): owner is Extract<Owner, { readonly kind: Kind }> => owner.kind === kind;
  return definitions.flatMap((definition) =>
    (definition.owners ?? []).filter(isOfKind).map((owner) => ({ definition, owner })),
  );
}

/** The channels of removed subscriptions, and what of theirs is removed. */
interface Removal {
  /** The owner of a private channel. */
  readonly userId?: string | null | undefined;
  readonly channelIds: readonly string[];
  readonly isRemoved: (pattern: SubscriptionPattern) => boolean;
  /** True to close its open messages. */
  readonly mayClose: boolean;
}

/** True if a subscription matches a pattern. */
const fitsPattern = (pattern: SubscriptionPattern, { channelId, feed, subject }: SubscriptionKey): boolean =>
  pattern.channelId === channelId &&
  (pattern.feed === undefined || pattern.feed === feed) &&
  (pattern.subject === undefined || pattern.subject === subject);

/**
 * Creates the janitor of a network's state.
 * @param otherCollections collections that feeds and other modules declare
 * @param closesMessages false on a network that is no longer served, where nothing closes messages
 * @throws {RangeError} if two collections have the same name, or a shared one belongs to subscriptions
 */
export function createJanitor(
  state: State,
  subscriptions: Pick<Subscriptions, "all">,
  otherCollections: readonly CollectionDefinition[] = [],
  closesMessages = true,
): Janitor {
  // The last one, because reading the others sets documents aside.
  const definitions = [...deliveryCollections, ...otherCollections, unreadableDocuments];
  checkDefinitions(definitions);
  const stored = state.open(subscriptionDocuments);

  /** Returns the writes that delete these subscriptions and everything that belongs to them. */
  const deletionsOf = async (
    removed: readonly Subscription[],
    { channelIds, isRemoved }: Removal,
  ): Promise<Write[]> => {
    const ids = removed.map(idOf);
    const writes = ids.map((id) => stored.delete(id));
    for (const { definition, owner } of ownedBy(definitions, "subscription")) {
      const collection = state.open(definition);
      if (!owner.patternOf) writes.push(...ids.map((id) => collection.delete(id)));
      else
        for await (const [id, document] of collection.entries(channelIds))
          if (isRemoved(owner.patternOf(id, document))) writes.push(collection.delete(id));
    }
    return writes;
  };

  /** Returns the writes that queue the open messages of removed subscriptions for closing. */
  const farewellsTo = async ({ channelIds, isRemoved, userId }: Removal): Promise<Write[]> => {
    const writes: Write[] = [];
    const owner = userId == null ? {} : { userId };
    for await (const [id, document] of state.open(announcements).entries(channelIds)) {
      const { channelId, feed, revision, isOver } = document;
      const isOpen = revision !== undefined && !isOver;
      if (isOpen && isRemoved({ channelId, feed }))
        writes.push(state.open(farewells).put(id, { ...document, ...owner }));
    }
    return writes;
  };

  /** Returns the writes that delete messages in the queue for closing. */
  const unqueued = async ({ channelIds, isRemoved }: Removal): Promise<Write[]> => {
    const writes: Write[] = [];
    for await (const [id, { channelId, feed }] of state.open(farewells).entries(channelIds))
      if (isRemoved({ channelId, feed })) writes.push(state.open(farewells).delete(id));
    return writes;
  };

  /**
   * Deletes subscriptions and everything that belongs to them, in one commit.
   * @returns false if the expectations do not hold, so that nothing was deleted
   */
  const remove = async (
    removed: readonly Subscription[],
    removal: Removal,
    expected: readonly Write[] = [],
  ): Promise<boolean> => {
    const writesFor = async (each: readonly Subscription[]) => [
      ...(removal.mayClose ? await farewellsTo(removal) : await unqueued(removal)),
      ...(await deletionsOf(each, removal)),
    ];
    if (!(await state.commit([...expected, ...(await writesFor(removed))]))) return false;
    // A delivery may have been recorded between the read and the commit, but not after it.
    const lateWrites = await writesFor([]);
    if (lateWrites.length > 0) await state.commit(lateWrites);
    return true;
  };

  /** Deletes the subscriptions of channels and everything that belongs to them. */
  const removeChannels = async (channelIds: readonly string[]): Promise<void> => {
    if (channelIds.length === 0) return;
    const channels = new Set(channelIds);
    const removed = (await subscriptions.all()).filter(({ channelId }) => channels.has(channelId));
    const isRemoved = ({ channelId }: SubscriptionPattern) => channels.has(channelId);
    await remove(removed, { channelIds: [...channels], isRemoved, mayClose: false });
  };

  /** Reads the subscriptions. Returns a function that tells if a document belongs to one of them. */
  const readOwnership = async () => {
    const ids = new Set<string>();
    const byChannel = new Map<string, Subscription[]>();
    for await (const piece of inPieces(await subscriptions.all()))
      for (const each of piece) {
        ids.add(idOf(each));
        addTo(byChannel, each.channelId, each);
      }
    return (id: string, pattern: SubscriptionPattern | undefined): boolean =>
      pattern
        ? byChannel.get(pattern.channelId)?.some((each) => fitsPattern(pattern, each)) === true
        : ids.has(id);
  };

  return {
    async removeSubscription(key) {
      const subscriptionId = idOf(key);
      for (;;) {
        const subscription = await stored.get(subscriptionId);
        const remaining = (await subscriptions.all()).filter(
          (each) => each.channelId === key.channelId && idOf(each) !== subscriptionId,
        );
        const isAlone = (pattern: SubscriptionPattern) =>
          fitsPattern(pattern, key) && !remaining.some((each) => fitsPattern(pattern, each));
        const removal = {
          channelIds: [key.channelId],
          isRemoved: isAlone,
          userId: subscription?.userId,
          mayClose: closesMessages,
        };
        // An edit of its subject moves a subscription to another id, which a removal of this one would miss.
        const expected = [stored.expect(subscriptionId, subscription)];
        if (await remove(present([subscription]), removal, expected)) return subscription !== undefined;
      }
    },

    removeChannels,

    async forgetPerson(userId) {
      const owned = (await subscriptions.all()).filter((each) => each.userId === userId);
      const watcher = await state.open(watchers).get(userId);
      const channelIds = present([...owned, watcher]).map(({ channelId }) => channelId);
      await removeChannels(channelIds);
      for (const { definition, owner } of ownedBy(definitions, "person")) {
        const isAbout = (id: string, document: unknown) =>
          document !== undefined && owner.mentions(userId, id, document);
        for await (const [id, document] of state.open(definition).entries([userId]))
          if (isAbout(id, document))
            await changeDocument(state, definition, id, (newest) =>
              isAbout(id, newest) ? owner.without?.(userId, newest) : newest,
            );
      }
      // The person's channel is theirs alone, so a document that names it is about them.
      const setAside = state.open(unreadableDocuments);
      if (channelIds.length > 0)
        for await (const [id] of setAside.entries(channelIds)) await state.commit([setAside.delete(id)]);
      return owned.length;
    },

    async sweep() {
      const isOwnedAtFirst = await readOwnership();
      const suspects: { write: Write; id: string; pattern: SubscriptionPattern | undefined }[] = [];
      for (const { definition, owner } of ownedBy(otherCollections, "subscription")) {
        const collection = state.open(definition);
        for await (const [id, document] of collection.entries()) {
          const pattern = owner.patternOf?.(id, document);
          if (!isOwnedAtFirst(id, pattern)) suspects.push({ write: collection.delete(id), id, pattern });
        }
      }
      if (suspects.length === 0) return;
      // No document is older than its subscription.
      const isOwned = await readOwnership();
      const orphans = await filterInTurns(suspects, ({ id, pattern }) => !isOwned(id, pattern));
      if (orphans.length > 0) await state.commit(orphans.map(({ write }) => write));
    },

    async endSubjects(collections, subjects) {
      const endedSubjects = new Set(subjects);
      const writes: Write[] = [];
      if (endedSubjects.size === 0) return writes;
      for (const { definition, owner } of ownedBy(collections, "subject")) {
        const collection = state.open(definition);
        if (!owner.subjectOf) writes.push(...subjects.map((id) => collection.delete(id)));
        else
          for await (const [id, document] of collection.entries())
            if (endedSubjects.has(owner.subjectOf(id, document))) writes.push(collection.delete(id));
      }
      return writes;
    },
  };
}
