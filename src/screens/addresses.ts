import * as z from "zod";
import { MAX_SCREENS } from "../explorer/paging.js";
import { MAX_ID_LENGTH } from "../explorer/values.js";
import { readId } from "../text/ids.js";

const page = z.coerce.number().int().min(1).max(MAX_SCREENS).default(1);
const order = z.enum(["DESC", "ASC"]).default("DESC");
/** An id, as pasted or packed. */
const id = z.string().transform(readId).pipe(z.string().min(1).max(MAX_ID_LENGTH));

/** One kind of screen: its parameters, and the name by which its addresses travel. */
const screen = <Shape extends z.ZodRawShape>(wire: string, shape: Shape) => ({
  wire,
  parameters: z.object(shape),
});

/**
 * Every screen: its name, its name on the wire and its parameters, by which both addresses and commands are parsed. A
 * custom_id has 100 characters for all of it, so the screens of contract ids (93 characters packed) have the shortest wire
 * names. Those and the parameters are released once and for ever: a button lives as long as its message
 * (test/addresses.txt).
 */
const screens = {
  price: screen("price", { over: z.enum(["1d", "7d", "30d"]).default("1d") }),
  network: screen("network", {}),
  validators: screen("validators", {
    /** BEHIND: active, and on an older version than most. */
    status: z.enum(["ALL", "ACTIVE", "INACTIVE", "BEHIND"]).default("ALL"),
    order,
    page,
    /** Only those that run it; "": any. */
    version: z.string().max(60).default(""),
  }),
  /** All of them, the recently silent ones first. */
  overview: screen("overview", { page }),
  newcomers: screen("newcomers", { page }),
  versions: screen("versions", {}),
  validator: screen("validator", { id }),
  parties: screen("parties", {
    sort: z.enum(["LAST_ACTIVITY_AT", "FIRST_SEEN_AT"]).default("LAST_ACTIVITY_AT"),
    order,
    page,
  }),
  top: screen("top", { page }),
  party: screen("party", { id }),
  rewards: screen("rewards", { id, page }),
  proposals: screen("proposals", { page }),
  voteRequest: screen("vr", { id }),
  votes: screen("vv", { id, page }),
  transfers: screen("transfers", { order, page }),
  /** By its event's id, with where the list had it. */
  transfer: screen("transfer", { id, order, page }),
  /** By the id of the contract that describes it. */
  token: screen("t", { id }),
  contracts: screen("contracts", { order, page }),
  contract: screen("c", { id }),
  events: screen("events", { order, page }),
  event: screen("event", { id }),
  updates: screen("updates", { order, page }),
  update: screen("update", { id }),
  /** Whatever a person pasted or typed: it leads on to what it turns out to be, or to the screen that was wanted. */
  lookup: screen("lookup", {
    id,
    of: z
      .enum(["lookup", "validator", "party", "rewards", "voteRequest", "votes", "token"])
      .default("lookup"),
  }),
  help: screen("help", {}),
} as const;

type Screens = typeof screens;

/** The name of a screen. */
export type ScreenName = keyof Screens;
/** A screen's parameters, parsed. */
export type ParametersOf<Name extends ScreenName> = z.infer<Screens[Name]["parameters"]>;

/** A screen's name with its parameters. */
export type Address = {
  [Name in ScreenName]: { readonly screen: Name; readonly parameters: ParametersOf<Name> };
}[ScreenName];

/** What each screen's parameters are where nothing else is said. */
const defaults = new Map(
  Object.entries(screens).map(([name, { parameters }]) => [
    name,
    Object.fromEntries(
      Object.entries(parameters.shape).flatMap(([parameter, each]) => {
        const { data } = each.safeParse(undefined);
        return data === undefined ? [] : [[parameter, data as unknown]];
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
  const result = screens[screen].parameters.safeParse(given);
  return result.success ? ({ screen, parameters: result.data } as Address) : undefined;
}

/** Where a name leads that was typed for a screen, where the screen's things have names; undefined where they have none. */
export const namedAddress = (screen: ScreenName, name: string): Address | undefined =>
  parseAddress("lookup", { id: name, of: screen });

/** The name by which a screen's addresses travel. */
export const wireOf = (screen: ScreenName): string => screens[screen].wire;

/** Every screen's name. */
export const screenNames = Object.keys(screens).filter(isScreenName);

const byWire = new Map(screenNames.map((screen) => [wireOf(screen), screen]));

/** The screen with a name on the wire. */
export const screenAt = (wire: string): ScreenName | undefined => byWire.get(wire);

/** Whether a screen is of one thing, by its id. */
export const takesId = (screen: ScreenName): boolean => "id" in screens[screen].parameters.shape;

/** Whether there is a screen of that name. */
export function isScreenName(name: string): name is ScreenName {
  return Object.hasOwn(screens, name);
}

/** The same screen with one parameter changed; undefined where the value is not one. */
export function withParameter(from: Address, name: string, value: string | number): Address | undefined {
  const shape: Readonly<Record<string, z.ZodType>> = screens[from.screen].parameters.shape;
  const result = shape[name]?.safeParse(value);
  return result?.success
    ? ({ ...from, parameters: { ...from.parameters, [name]: result.data } } as Address)
    : undefined;
}

/** Those of an address's parameters that are not default, as strings, in their order. */
export function givenParameters(from: Address): readonly (readonly [string, string])[] {
  const usual = defaults.get(from.screen) ?? {};
  return Object.entries(from.parameters)
    .filter(([name, value]) => value !== usual[name])
    .map(([name, value]) => [name, String(value)]);
}
