import { yieldFor } from "../util/event-loop.js";
import { type Answer, type EndpointName, endpoints, type Parameters, targetOf } from "./endpoints.js";
import { ExplorerError } from "./errors.js";
import type { Body, Query } from "./http.js";

/** An answer with its body as text, and the body's size in bytes. */
export interface Fetched<Name extends EndpointName> {
  readonly data: Answer<Name>;
  readonly text: string;
  readonly bytes: number;
}

/** Called with the JSON of each answer before the schema parses it. */
export type OnAnswer = (endpoint: EndpointName, json: unknown) => void;

/** Sends a request. */
export type Request = (path: string, query: Query) => Promise<Body>;

/** Parses an endpoint's answer from a JSON body. @throws {ExplorerError} "unreadable" if it does not match the schema */
export function parseAnswer<Name extends EndpointName>(name: Name, json: unknown): Answer<Name> {
  const result = endpoints[name].schema.safeParse(json);
  if (!result.success) throw new ExplorerError("unreadable", `The answer of "${name}" has another shape`);
  // TypeScript cannot infer that the schema belongs to Name.
  return result.data as Answer<Name>;
}

/**
 * Fetches an endpoint's answer. If the body is the same as that of `last`, `last` is returned and the body is not parsed again,
 * because most polls find nothing new.
 * @throws {ExplorerError}
 */
export async function fetchAnswer<Name extends EndpointName>(
  send: Request,
  name: Name,
  parameters: Parameters<Name>,
  onAnswer: OnAnswer = () => {},
  last?: Fetched<Name>,
): Promise<Fetched<Name>> {
  const [path, query = {}] = targetOf(name, parameters);
  const { json, text, bytes } = await send(path, query);
  onAnswer(name, json);
  if (text === last?.text) return last;
  await yieldFor(bytes);
  const data = parseAnswer(name, json);
  await yieldFor(bytes);
  return { data, text, bytes };
}
