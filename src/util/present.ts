/** Returns the items that are not undefined, null or false, for lists with conditional items. */
export const present = <T>(items: readonly (T | undefined | null | false)[]): T[] =>
  items.filter((item): item is T => item !== undefined && item !== null && item !== false);

/** The fields of an object, of which those that may be undefined are optional. */
type Defined<T> = {
  [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name];
} & {
  [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined>;
};

/** Returns the fields that are not undefined, because optional fields of documents and of Discord's bodies may be missing, but not undefined. */
export function defined<T extends object>(fields: T): Defined<T>;
export function defined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
