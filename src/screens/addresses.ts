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
  proposals: screen("proposals", {
    page,
    /** "first": the open ones by their deadlines, and the others behind them. */
    status: z.enum(["first", "open", "all", "accepted", "rejected", "expired"]).default("first"),
    kind: z.enum(["any", "apps", "configuration", "rewards", "validators", "other"]).default("any"),
  }),
  voteRequest: screen("vr", { id }),
  votes: screen("vv", { id, page }),
  /** How super validators vote; and one of them, by its party or its name. */
  voters: screen("voters", { page }),
  voter: screen("voter", { id, page }),
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

/** When an alert began, epoch ms. */
const since = z.coerce.number().int().nonnegative();
/** Whether it stands on the alert's own message, or on news of it. */
const on = z.enum(["card", "news"]).default("card");
/** A feed by its name. */
const feed = z.string().max(20);
/** What a menu sets a watch to, as it would be typed. */
const set = z.string().max(12).default("");

/** What a button can do besides opening a screen: travels as screens do, and its names are for ever just the same. */
const actions = {
  /** "I'm on it", of an alert about a validator. */
  acknowledge: screen("ack", { id, since, on }),
  snooze: screen("snooze", { id, since, for: z.enum(["1h", "8h", "1d", "back"]), on }),
  /** Of a condition on the price. */
  snoozePrice: screen("quiet", { id, for: z.enum(["1h", "8h", "1d"]) }),
  /** Asks whether the person wants to be told of something, with what they would be told. */
  offerWatch: screen("watch", { id, feed, set }),
  startWatch: screen("watch-on", { id, feed, set }),
  /** A person's watches, one of them chosen; they may be on several networks. */
  watches: screen("watches", {
    id: id.optional(),
    feed: feed.optional(),
    network: z.string().max(12).optional(),
  }),
  changeWatch: screen("watch-set", {
    id,
    feed,
    to: z.enum(["pause", "resume", "remove"]),
    /** One that the bot serves no more. */
    network: z.string().max(12).optional(),
  }),
} as const;

const places = { ...screens, ...actions };
type Places = typeof places;

/** The name of a screen. */
export type ScreenName = keyof typeof screens;
/** The name of an action. */
export type ActionName = keyof typeof actions;
type PlaceName = ScreenName | ActionName;
/** A screen's or an action's parameters, parsed. */
export type ParametersOf<Name extends PlaceName> = z.infer<Places[Name]["parameters"]>;

type AddressOf<Names extends PlaceName> = {
  [Name in Names]: { readonly screen: Name; readonly parameters: ParametersOf<Name> };
}[Names];

/** The name of a screen, or of an action, with its parameters. */
export type Address = AddressOf<PlaceName>;
export type ScreenAddress = AddressOf<ScreenName>;
export type ActionAddress = AddressOf<ActionName>;

/** Whether an address is a screen's. */
export const isScreen = (to: Address): to is ScreenAddress => isScreenName(to.screen);

/** What each place's parameters are where nothing else is said. */
const defaults = new Map(
  Object.entries(places).map(([name, { parameters }]) => [
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
type Given<Name extends PlaceName> = Partial<ParametersOf<Name>> &
  Pick<ParametersOf<Name>, Extract<keyof ParametersOf<Name>, "id">>;

/** An address from a screen's name and its parameters, of which those not given are default. */
export function address<Name extends PlaceName>(screen: Name, given: Given<Name>): AddressOf<Name> {
  // TypeScript does not see that the name and its own parameters belong together.
  return { screen, parameters: { ...defaults.get(screen), ...given } } as unknown as AddressOf<Name>;
}

/** An address from text: a screen's name and its parameters as strings. Undefined where they do not parse. */
export function parseAddress(screen: string, given: Readonly<Record<string, string>>): Address | undefined {
  if (!isPlaceName(screen)) return undefined;
  const result = places[screen].parameters.safeParse(given);
  return result.success ? ({ screen, parameters: result.data } as Address) : undefined;
}

/** Where a name leads that was typed for a screen, where the screen's things have names; undefined where they have none. */
export function namedAddress(screen: ScreenName, name: string): ScreenAddress | undefined {
  const to = parseAddress("lookup", { id: name, of: screen });
  return to && isScreen(to) ? to : undefined;
}

/** The name by which a screen's or an action's addresses travel. */
export const wireOf = (place: PlaceName): string => places[place].wire;

/** Every screen's name. */
export const screenNames = Object.keys(screens).filter(isScreenName);

/** Every action's name. */
export const actionNames = Object.keys(actions) as ActionName[];

const byWire = new Map([...screenNames, ...actionNames].map((place) => [wireOf(place), place]));

/** The screen or action with a name on the wire. */
export const placeAt = (wire: string): PlaceName | undefined => byWire.get(wire);

/** Whether a screen is of one thing, by its id. */
export const takesId = (screen: ScreenName): boolean => "id" in screens[screen].parameters.shape;

/** Whether there is a screen of that name. */
export function isScreenName(name: string): name is ScreenName {
  return Object.hasOwn(screens, name);
}

/** Whether there is an action of that name. */
export function isActionName(name: string): name is ActionName {
  return Object.hasOwn(actions, name);
}

function isPlaceName(name: string): name is PlaceName {
  return Object.hasOwn(places, name);
}

/** The same screen with one parameter changed; undefined where the value is not one. */
export function withParameter<From extends Address>(
  from: From,
  name: string,
  value: string | number,
): From | undefined {
  const shape: Readonly<Record<string, z.ZodType>> = places[from.screen].parameters.shape;
  const result = shape[name]?.safeParse(value);
  return result?.success
    ? ({ ...from, parameters: { ...from.parameters, [name]: result.data } } as From)
    : undefined;
}

/** Those of an address's parameters that are not default, as strings, in their order. */
export function givenParameters(from: Address): readonly (readonly [string, string])[] {
  const usual = defaults.get(from.screen) ?? {};
  return Object.entries(from.parameters)
    .filter(([name, value]) => value !== usual[name])
    .map(([name, value]) => [name, String(value)]);
}
