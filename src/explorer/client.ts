import {
  type Answer,
  type EndpointName,
  endpointNames,
  endpoints,
  type Parameters,
  targetOf,
} from "./endpoints.js";
import { ExplorerError } from "./errors.js";
import type { Body, Query } from "./http.js";

/** An answer, and the size of its body in bytes. */
export interface Fetched<Name extends EndpointName> {
  readonly data: Answer<Name>;
  readonly bytes: number;
}

/** How a client's requests are sent. */
export type Request = (path: string, query: Query) => Promise<Body>;

/** One function per endpoint; each throws ExplorerError. */
export type ExplorerClient = {
  readonly [Name in EndpointName]: (parameters: Parameters<Name>) => Promise<Fetched<Name>>;
};

/** Reads an endpoint's answer from a JSON body. @throws {ExplorerError} "unreadable" for another shape */
export function parseAnswer<Name extends EndpointName>(name: Name, json: unknown): Answer<Name> {
  const result = endpoints[name].schema.safeParse(json);
  if (!result.success) throw new ExplorerError("unreadable", `The answer of "${name}" has another shape`);
  // TypeScript does not see that the schema is that of Name.
  return result.data as Answer<Name>;
}

/** Fetches one endpoint's answer. @throws {ExplorerError} */
export async function fetchAnswer<Name extends EndpointName>(
  send: Request,
  name: Name,
  parameters: Parameters<Name>,
): Promise<Fetched<Name>> {
  const [path, query = {}] = targetOf(name, parameters);
  const { json, bytes } = await send(path, query);
  return { data: parseAnswer(name, json), bytes };
}

/** The explorer's 22 endpoints over a way to send a request. */
export function createClient(send: Request): ExplorerClient {
  const call = <Name extends EndpointName>(name: Name) => [
    name,
    (parameters: Parameters<Name>) => fetchAnswer(send, name, parameters),
  ];
  return Object.fromEntries(endpointNames.map(call)) as ExplorerClient;
}
