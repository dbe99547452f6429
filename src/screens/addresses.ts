import { z } from "zod";
import { REACHABLE_ROWS, ROWS_PER_SCREEN } from "../explorer/paging.js";
import { readId } from "./ids.js";

/** The last page a list can have. */
export const LAST_PAGE = REACHABLE_ROWS / ROWS_PER_SCREEN;

const page = z.coerce.number().int().min(1).max(LAST_PAGE).default(1);
const order = z.enum(["DESC", "ASC"]).default("DESC");
/** An id, as pasted or packed. */
const id = z.string().transform(readId).pipe(z.string().min(1).max(300));

/**
 * Every screen's name and parameters: the schema that both addresses and commands are parsed by. A custom_id has 100
 * characters for all of it, so the screens of contract ids (93 characters packed) have the shortest names. Names and
 * parameters are released once and for ever: a button lives as long as its message (test/addresses.txt).
 */
const parameters = {
  price: z.object({}),
  validators: z.object({ status: z.enum(["ALL", "ACTIVE", "INACTIVE"]).default("ALL"), order, page }),
  newcomers: z.object({ page }),
  validator: z.object({ id }),
  parties: z.object({
    sort: z.enum(["LAST_ACTIVITY_AT", "FIRST_SEEN_AT"]).default("LAST_ACTIVITY_AT"),
    order,
    page,
  }),
  top: z.object({ page }),
  party: z.object({ id }),
  rewards: z.object({ id, page }),
  proposals: z.object({ page }),
  /** A vote request. */
  vr: z.object({ id }),
  /** A vote request's votes. */
  vv: z.object({ id, page }),
} as const satisfies Record<string, z.ZodObject>;

type Parameters = typeof parameters;

/** The name of a screen. */
export type ScreenName = keyof Parameters;
/** A screen's parameters, parsed. */
export type ParametersOf<Name extends ScreenName> = z.infer<Parameters[Name]>;

/** A screen's name with its parameters. */
export type Address = {
  [Name in ScreenName]: { readonly screen: Name; readonly parameters: ParametersOf<Name> };
}[ScreenName];

/** An address from a screen's name and what is not default among its parameters. @throws {z.ZodError} */
export function address<Name extends ScreenName>(screen: Name, given: z.input<Parameters[Name]>): Address {
  // TypeScript does not see that the name and its own schema's output belong together.
  return { screen, parameters: parameters[screen].parse(given) } as Address;
}

/** An address from text: a screen's name and its parameters as strings. Undefined where they do not parse. */
export function parseAddress(screen: string, given: Readonly<Record<string, string>>): Address | undefined {
  if (!isScreenName(screen)) return undefined;
  const result = parameters[screen].safeParse(given);
  return result.success ? ({ screen, parameters: result.data } as Address) : undefined;
}

export function isScreenName(name: string): name is ScreenName {
  return Object.hasOwn(parameters, name);
}

/** The same screen with one parameter changed; undefined where that is not possible. */
export function withParameter(from: Address, name: string, value: string | number): Address | undefined {
  const given = Object.entries({ ...from.parameters, [name]: value });
  return parseAddress(from.screen, Object.fromEntries(given.map(([key, each]) => [key, String(each)])));
}

/** Those of an address's parameters that are not default, as strings, in their order. */
export function givenParameters(from: Address): readonly (readonly [string, string])[] {
  const defaults = new Map(
    Object.entries(parameters[from.screen].shape).map(([name, schema]) => [
      name,
      schema.safeParse(undefined).data as unknown,
    ]),
  );
  return Object.entries(from.parameters)
    .filter(([name, value]) => value !== undefined && value !== defaults.get(name))
    .map(([name, value]) => [name, String(value)]);
}
