import type * as z from "zod";

/** Subscriptions by what they have in common: a channel, a channel and a feed, or a channel, a feed and a subject. */
export interface SubscriptionPattern {
  readonly channelId: string;
  readonly feed?: string;
  readonly subject?: string | null;
}

/** Something whose end deletes a document: a subscription, a feed's subject, or a person who asks to be forgotten. */
export type Owner<T = unknown> =
  | {
      readonly kind: "subscription";
      /** Returns the subscriptions that a document belongs to. If it is missing, the document's id is its subscription's id. */
      patternOf?(id: string, document: T): SubscriptionPattern;
    }
  | {
      readonly kind: "subject";
      /** Returns the subject as the feed's polls name it. */
      subjectOf(id: string, document: T): string;
    }
  | {
      readonly kind: "person";
      /** True if the document says something about this person. */
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
  /** The end of any of these deletes a document. Documents without an owner are deleted by the code that writes them. */
  readonly owners?: readonly Owner<T>[];
  /** Converts a document of an earlier version, before it is parsed. */
  upgrade?(id: string, document: StoredFields): StoredFields;
  /** True if all networks share the collection. Each network has its own copy of every other collection. */
  readonly isShared?: boolean;
  /** Carries the type of a document; it has no value. */
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
