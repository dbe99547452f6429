import { yieldFor } from "../util/event-loop.js";
import { type Answer, type EndpointName, endpoints, type Parameters, targetOf } from "./endpoints.js";
import { ExplorerError } from "./errors.js";
import type { Body, Query } from "./http.js";

/** An answer, and its body as text and in bytes. */
export interface Fetched<Name extends EndpointName> {
  readonly data: Answer<Name>;
  readonly text: string;
  readonly bytes: number;
}

/** Called with each answer as it came. */
export type OnAnswer = (endpoint: EndpointName, json: unknown) => void;

/** Sends a request. */
export type Request = (path: string, query: Query) => Promise<Body>;

/** Reads an endpoint's answer from a JSON body. @throws {ExplorerError} "unreadable" for another shape */
export function parseAnswer<Name extends EndpointName>(name: Name, json: unknown): Answer<Name> {
  const result = endpoints[name].schema.safeParse(json);
  if (!result.success) throw new ExplorerError("unreadable", `The answer of "${name}" has another shape`);
  // TypeScript does not see that the schema is that of Name.
  return result.data as Answer<Name>;
}

/**
 * Fetches one endpoint's answer. If the body is the same as that of `last`, the data is the same object and is not parsed again:
 * most polls find nothing new. @throws {ExplorerError}
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
