import type * as z from "zod";

/** Matches subscriptions to a channel, a channel and a feed, or a channel, a feed and a subject. */
export interface SubscriptionPattern {
  readonly channelId: string;
  readonly feed?: string;
  readonly subject?: string | null;
}

/**
 * Something whose removal deletes a document: a subscription, a feed's subject, or a person who asks to be forgotten. The id or the
 * text of the document must contain the channel's or the person's Discord id, by which such documents are found.
 */
export type Owner<T = unknown> =
  | {
      readonly kind: "subscription";
      /**
       * Returns the subscriptions that a document belongs to. Without this function, a document's id is the id of its
       * subscription.
       */
      patternOf?(id: string, document: T): SubscriptionPattern;
    }
  | {
      readonly kind: "subject";
      /** Returns the document's subject, as named in the feed's polls. Without this function, a document's id is its subject. */
      subjectOf?(id: string, document: T): string;
    }
  | {
      readonly kind: "person";
      /** True if the document contains data about this person. */
      mentions(userId: string, id: string, document: T): boolean;
      /** Returns the document without the person, or `undefined` to delete it. */
      without?(userId: string, document: T): T | undefined;
    };

/** A collection of the durable state: its stored name, the schema of its documents, and their lifetime. */
export interface CollectionDefinition<T = unknown> {
  readonly name: string;
  readonly schema: z.ZodType;
  /** Lifetime of a document in words (docs/architecture.md). */
  readonly lifetime: string;
  /** A document is deleted when any of these is removed. The code that writes documents without an owner must delete them. */
  readonly owners?: readonly Owner<T>[];
  /** Converts a document of an earlier version, before it is parsed. */
  upgrade?(id: string, document: StoredFields): StoredFields;
  /**
   * False for a document that `list` leaves out, because it is about something that is over. It then takes no memory. It must stay
   * false unless the document is changed.
   */
  isListed?(document: T): boolean;
  /**
   * True if all networks share the collection. Each network has its own copy of every other collection. A shared one cannot belong to
   * subscriptions.
   */
  readonly isShared?: boolean;
  /** Only for type inference. It never has a value. */
  readonly documentType?: T;
}

/** A document's fields before they are parsed. */
export type StoredFields = Readonly<Record<string, unknown>>;

type DeepReadonly<T> = T extends object ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> } : T;

/** A document of a collection. */
export type DocumentOf<Definition> = Definition extends CollectionDefinition<infer T> ? T : never;

/** Defines a collection, and derives the type of its documents from the schema. */
export const defineCollection = <Schema extends z.ZodType>(
  definition: CollectionDefinition<DeepReadonly<z.output<Schema>>> & { readonly schema: Schema },
): CollectionDefinition<DeepReadonly<z.output<Schema>>> => definition;
