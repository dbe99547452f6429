import * as z from "zod";
import { MAX_SCREENS } from "../explorer/paging.js";
import { MAX_ID_LENGTH } from "../explorer/values.js";
import { readId } from "../text/ids.js";
import { perObject } from "../util/per-object.js";

const page = z.coerce.number().int().min(1).max(MAX_SCREENS).default(1);
const order = z.enum(["DESC", "ASC"]).default("DESC");
/** An id, as pasted or packed. */
const id = z.string().transform(readId).pipe(z.string().min(1).max(MAX_ID_LENGTH));

/**
 * Defines a screen.
 * @param wire its name in custom ids
 * @param words its name for people, after "Back to"
 */
const screen = <Shape extends z.ZodRawShape>(wire: string, words: string, shape: Shape) => ({
  wire,
  words,
  parameters: z.object(shape),
});

/**
 * All screens with their names in custom ids and their parameters, by which addresses and commands are parsed. A custom_id has
 * 100 characters, so screens of contract ids (93 characters packed) have the shortest names. Names and parameters can never
 * change, because a button lives as long as its message (test/addresses.txt).
 */
const screens = {
  price: screen("price", "the price", { over: z.enum(["1d", "7d", "30d"]).default("1d") }),
  network: screen("network", "the network", {}),
  validators: screen("validators", "validators", {
    /** BEHIND: active, and on an older version than most. */
    status: z.enum(["ALL", "ACTIVE", "INACTIVE", "BEHIND"]).default("ALL"),
    order,
    page,
    /** Only validators on this version. "" means any version. */
    version: z.string().max(60).default(""),
  }),
  /** All validators, the recently silent ones first. */
  overview: screen("overview", "the overview", { page }),
  newcomers: screen("newcomers", "the newest validators", { page }),
  versions: screen("versions", "versions", {}),
  validator: screen("validator", "the validator", { id }),
  parties: screen("parties", "parties", {
    sort: z.enum(["LAST_ACTIVITY_AT", "FIRST_SEEN_AT"]).default("LAST_ACTIVITY_AT"),
    order,
    page,
  }),
  top: screen("top", "the largest balances", { page }),
  party: screen("party", "the party", { id }),
  rewards: screen("rewards", "the rewards", { id, page }),
  proposals: screen("proposals", "vote requests", {
    page,
    /** "first": open requests by deadline, followed by the others. */
    status: z.enum(["first", "open", "all", "accepted", "rejected", "expired"]).default("first"),
    kind: z.enum(["any", "apps", "configuration", "rewards", "validators", "other"]).default("any"),
  }),
  voteRequest: screen("vr", "the vote request", { id }),
  votes: screen("vv", "the votes", { id, page }),
  /** Voting records of super validators, and of one of them by its party or name. */
  voters: screen("voters", "all voting records", { page }),
  voter: screen("voter", "the voting record", { id, page }),
  transfers: screen("transfers", "transfers", { order, page }),
  /** `id` is the event's id. `order` and `page` are its position in the list. */
  transfer: screen("transfer", "the transfer", { id, order, page }),
  /** `id` is the id of the contract that describes the token. */
  token: screen("t", "the token", { id }),
  contracts: screen("contracts", "contracts", { order, page }),
  contract: screen("c", "the contract", { id }),
  events: screen("events", "events", { order, page }),
  event: screen("event", "the event", { id }),
  updates: screen("updates", "updates", { order, page }),
  /** An event's id names its update, followed by a number. */
  update: screen("update", "the update", {
    id: id.transform((text) => text.replace(/^([0-9a-f]{64,}):\d+$/, "$1")),
  }),
  /** Opens the thing that a person pasted or typed. `of` is the screen that the person asked for. */
  lookup: screen("lookup", "the matches", {
    id,
    of: z
      .enum(["lookup", "validator", "party", "rewards", "voteRequest", "votes", "token"])
      .default("lookup"),
  }),
  /** `group` is the group of commands to show; the beginning without it. */
  help: screen("help", "help", { group: z.string().max(20).optional() }),
} as const;

/** The name of a screen. */
export type ScreenName = keyof typeof screens;
/** A screen's parameters, parsed. */
export type ParametersOf<Name extends ScreenName> = z.infer<(typeof screens)[Name]["parameters"]>;

/** The address of a screen: its name and its parameters. */
export type ScreenAddress = {
  [Name in ScreenName]: { readonly screen: Name; readonly parameters: ParametersOf<Name> };
}[ScreenName];

/** A button that does something other than opening a screen. Its wire name and parameters can never change. */
export interface ButtonDefinition<Parameters = unknown> {
  readonly wire: string;
  readonly parameters: z.ZodObject;
  /** Carries the type of the parameters; it has no value. */
  readonly parametersType?: Parameters;
}

/** The parameters of a button. */
export type ButtonParameters<Button> = Button extends ButtonDefinition<infer Parameters> ? Parameters : never;

/** The address of a button: its definition and its parameters. */
export interface ButtonAddress {
  readonly button: ButtonDefinition;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** The destination of a link. */
export type Address = ScreenAddress | ButtonAddress;

/** True if an address is a screen's. */
export const isScreen = (to: Address): to is ScreenAddress => "screen" in to;

/** An id in a button's parameters. */
export const idParameter = id;

/** Maximum length of a subject: 25 party ids. */
const MAX_SUBJECT_LENGTH = 25 * MAX_ID_LENGTH;
/** The subject of a subscription in a button's parameters. It may consist of several ids. */
export const subjectParameter = z.string().transform(readId).pipe(z.string().min(1).max(MAX_SUBJECT_LENGTH));

const buttons = new Map<string, ButtonDefinition>();

/**
 * Defines a button. Links of all networks can decode it from then on.
 * @param wire the name in custom ids (test/addresses.txt)
 * @throws {RangeError} if a screen or another button has that name
 */
export function defineButton<Shape extends z.ZodRawShape>(
  wire: string,
  shape: Shape,
): ButtonDefinition<z.infer<z.ZodObject<Shape>>> {
  if (buttons.has(wire) || screenByWire.has(wire)) throw new RangeError(`Two links are named ${wire}`);
  const button = { wire, parameters: z.object(shape) };
  buttons.set(wire, button);
  return button;
}

/** Returns the default parameters of a screen or button. */
const defaultsOf = perObject(
  ({ shape }: z.ZodObject): Readonly<Record<string, unknown>> =>
    Object.fromEntries(
      Object.entries(shape).flatMap(([parameter, each]) => {
        const { data } = z.safeParse(each, undefined);
        return data === undefined ? [] : [[parameter, data]];
      }),
    ),
);

/** Parameters that an address must name: its id. All others have defaults. */
type Given<Name extends ScreenName> = Partial<ParametersOf<Name>> &
  Pick<ParametersOf<Name>, Extract<keyof ParametersOf<Name>, "id">>;

/** Returns the address of a screen. Parameters that are not given are default. */
export function address<Name extends ScreenName>(
  screen: Name,
  given: Given<Name>,
): Extract<ScreenAddress, { readonly screen: Name }> {
  // TypeScript does not see that the name and its own parameters belong together.
  return {
    screen,
    parameters: { ...defaultsOf(screens[screen].parameters), ...given },
  } as unknown as Extract<ScreenAddress, { readonly screen: Name }>;
}

/** Returns the address of a button. Parameters that are not given are default. */
export const buttonAddress = <Parameters>(
  button: ButtonDefinition<Parameters>,
  given: Partial<Parameters>,
): ButtonAddress => ({ button, parameters: { ...defaultsOf(button.parameters), ...given } });

/** Parses a screen's parameters. Returns `undefined` if they are not valid. */
export function parseAddress(
  screen: string,
  given: Readonly<Record<string, string>>,
): ScreenAddress | undefined {
  if (!isScreenName(screen)) return undefined;
  const result = screens[screen].parameters.safeParse(given);
  return result.success ? ({ screen, parameters: result.data } as ScreenAddress) : undefined;
}

/** Parses an address by its name in custom ids. Returns `undefined` if the name is unknown or the parameters are not valid. */
export function addressAt(wire: string, given: Readonly<Record<string, string>>): Address | undefined {
  const button = buttons.get(wire);
  if (!button) return parseAddress(screenByWire.get(wire) ?? "", given);
  const result = button.parameters.safeParse(given);
  return result.success ? { button, parameters: result.data } : undefined;
}

/** Returns the lookup of a name that was typed for a screen, or `undefined` if the screen's things have no names. */
export const namedAddress = (screen: ScreenName, name: string): ScreenAddress | undefined =>
  parseAddress("lookup", { id: name, of: screen });

/** Returns a screen's name for people, as in "Back to validators". */
export const wordsOf = (screen: ScreenName): string => screens[screen].words;

/** Returns a screen's name in custom ids. */
export const wireOf = (screen: ScreenName): string => screens[screen].wire;

/** Returns the name of an address in custom ids. */
export const wireIn = (to: Address): string => (isScreen(to) ? wireOf(to.screen) : to.button.wire);

export const screenNames = Object.keys(screens).filter(isScreenName);

const screenByWire = new Map(screenNames.map((screen) => [wireOf(screen), screen]));

/** Returns the button with this name in custom ids. */
export const buttonAt = (wire: string): ButtonDefinition | undefined => buttons.get(wire);

/** Returns the screen with this name in custom ids. */
export const screenAt = (wire: string): ScreenName | undefined => screenByWire.get(wire);

/** True if a screen shows one thing, by its id. */
export const takesId = (screen: ScreenName): boolean => "id" in screens[screen].parameters.shape;

export function isScreenName(name: string): name is ScreenName {
  return Object.hasOwn(screens, name);
}

const schemaOf = (to: Address): z.ZodObject =>
  isScreen(to) ? screens[to.screen].parameters : to.button.parameters;

/** Returns the address with one parameter changed, or `undefined` if the value is not valid. */
export function withParameter<From extends Address>(
  from: From,
  name: string,
  value: string | number,
): From | undefined {
  const field = schemaOf(from).shape[name];
  const result = field && z.safeParse(field, value);
  return result?.success
    ? ({ ...from, parameters: { ...from.parameters, [name]: result.data } } as From)
    : undefined;
}

/** Returns the parameters that are not default, as strings. */
export function givenParameters(from: Address): readonly (readonly [string, string])[] {
  const usualParameters = defaultsOf(schemaOf(from));
  return Object.entries(from.parameters)
    .filter(([name, value]) => value !== usualParameters[name])
    .map(([name, value]) => [name, String(value)]);
}
