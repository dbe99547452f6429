import * as z from "zod";
import { REACHABLE_ROWS, ROWS_PER_SCREEN } from "../explorer/paging.js";
import { LONGEST_ID } from "../explorer/values.js";
import { readId } from "./ids.js";

/** The last page a list can have. */
export const LAST_PAGE = REACHABLE_ROWS / ROWS_PER_SCREEN;

const page = z.coerce.number().int().min(1).max(LAST_PAGE).default(1);
const order = z.enum(["DESC", "ASC"]).default("DESC");
/** An id, as pasted or packed. */
const id = z.string().transform(readId).pipe(z.string().min(1).max(LONGEST_ID));

/**
 * Every screen's name and parameters: the schema that both addresses and commands are parsed by. A custom_id has 100
 * characters for all of it, so the screens of contract ids (93 characters packed) have the shortest names. Names and
 * parameters are released once and for ever: a button lives as long as its message (test/addresses.txt).
 */
const parameters = {
  price: z.object({ over: z.enum(["1d", "7d", "30d"]).default("1d") }),
  network: z.object({}),
  validators: z.object({ status: z.enum(["ALL", "ACTIVE", "INACTIVE"]).default("ALL"), order, page }),
  newcomers: z.object({ page }),
  versions: z.object({}),
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
  transfers: z.object({ order, page }),
  /** A token, by its contract id. */
  t: z.object({ id }),
  contracts: z.object({ order, page }),
  /** A contract. */
  c: z.object({ id }),
  events: z.object({ order, page }),
  event: z.object({ id }),
  updates: z.object({ order, page }),
  update: z.object({ id }),
  /** Whatever a person pasted: it leads on to what it turns out to be. */
  lookup: z.object({ id }),
  help: z.object({}),
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

/** What each screen's parameters are where nothing else is said. */
const defaults = new Map(
  Object.entries(parameters).map(([screen, schema]) => [
    screen,
    Object.fromEntries(
      Object.entries(schema.shape).flatMap(([name, each]) => {
        const { data } = each.safeParse(undefined);
        return data === undefined ? [] : [[name, data as unknown]];
      }),
    ),
  ]),
);

/** What has to be said of a screen's parameters: its id, and what is not default. */
type Given<Name extends ScreenName> = Partial<ParametersOf<Name>> &
  Pick<ParametersOf<Name>, Extract<keyof ParametersOf<Name>, "id">>;

/** An address from a screen's name and its parameters, of which those not given are default. */
export function address<Name extends ScreenName>(screen: Name, given: Given<Name>): Address {
  // TypeScript does not see that the name and its own parameters belong together.
  return { screen, parameters: { ...defaults.get(screen), ...given } } as unknown as Address;
}

/** An address from text: a screen's name and its parameters as strings. Undefined where they do not parse. */
export function parseAddress(screen: string, given: Readonly<Record<string, string>>): Address | undefined {
  if (!isScreenName(screen)) return undefined;
  const result = parameters[screen].safeParse(given);
  return result.success ? ({ screen, parameters: result.data } as Address) : undefined;
}

/** Every screen's name. */
export const screenNames = Object.keys(parameters).filter(isScreenName);

/** Whether a screen is of one thing, by its id. */
export const takesId = (screen: ScreenName): boolean => "id" in parameters[screen].shape;

export function isScreenName(name: string): name is ScreenName {
  return Object.hasOwn(parameters, name);
}

/** The same screen with one parameter changed; undefined where the value is not one. */
export function withParameter(from: Address, name: string, value: string | number): Address | undefined {
  const shape: Readonly<Record<string, z.ZodType>> = parameters[from.screen].shape;
  const result = shape[name]?.safeParse(value);
  return result?.success
    ? ({ ...from, parameters: { ...from.parameters, [name]: result.data } } as Address)
    : undefined;
}

/** Those of an address's parameters that are not default, as strings, in their order. */
export function givenParameters(from: Address): readonly (readonly [string, string])[] {
  const usual = defaults.get(from.screen) ?? {};
  return Object.entries(from.parameters)
    .filter(([name, value]) => value !== undefined && value !== usual[name])
    .map(([name, value]) => [name, String(value)]);
}
