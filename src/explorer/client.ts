import type * as z from "zod";
import { yieldFor } from "../util/event-loop.js";
import { type Answer, type EndpointName, endpoints, type Parameters, targetOf } from "./endpoints.js";
import { ExplorerError } from "./errors.js";
import type { Body, Query } from "./http.js";
import { fieldsOf } from "./schema/fields.js";
import type { Page } from "./schema/page.js";
import { toRecord } from "./values.js";

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

/** Maximum number of fields of an error message. Some explorers add the time, the path and an id. */
const MAX_ERROR_FIELDS = 10;
/** Names of fields of error messages. */
const OF_ERRORS = /^(errors?|message|msg|exception|detail)$/i;
/** Names of fields of error messages that contain an HTTP status. */
const OF_STATUS = /^(status|code|statusCode)$/i;

const isErrorStatus = (name: string, value: unknown): boolean =>
  OF_STATUS.test(name) && Number(value) >= 400 && Number(value) < 600;

/**
 * True for an object without a documented field, and for an error message that has a few of them. Each field of an answer may be
 * missing, so that the schema accepts it.
 */
function isAnotherThing({ shape }: z.ZodObject, json: unknown): boolean {
  const names = Object.keys(toRecord(json) ?? {});
  const knownNames = names.filter((name) => Object.hasOwn(shape, name));
  const isError = names.some((name) => OF_ERRORS.test(name) && !knownNames.includes(name));
  return knownNames.length === 0 || (isError && 4 * knownNames.length < Object.keys(shape).length);
}

/** True for an empty object, and for an error message: free-form data of the ledger is nested. */
function isNoData(json: unknown): boolean {
  const fields = toRecord(json);
  if (fields === null) return false;
  const names = Object.keys(fields);
  const isFlat = names.length <= MAX_ERROR_FIELDS && names.every((name) => toRecord(fields[name]) === null);
  const hasRows = Object.values(fields).some(Array.isArray);
  const isError = (name: string) => OF_ERRORS.test(name) || (!hasRows && isErrorStatus(name, fields[name]));
  return names.length === 0 || (isFlat && names.some(isError));
}

/** True for a list without rows that comes with an error or its status. A message alone may say that there are none. */
const isFailedList = (json: unknown, { content }: Page<unknown>): boolean =>
  content.length === 0 &&
  Object.entries(toRecord(json) ?? {}).some(
    ([name, value]) =>
      (/^(errors?|exception)$/i.test(name) && Object.keys(Object(value)).length > 0) ||
      isErrorStatus(name, value),
  );

/** Parses an endpoint's answer from a JSON body. @throws {ExplorerError} "unreadable" if it does not match the schema */
export function parseAnswer<Name extends EndpointName>(name: Name, json: unknown): Answer<Name> {
  const { schema } = endpoints[name];
  const result = schema.safeParse(json);
  const fields = fieldsOf(schema);
  const isList = "key" in endpoints[name];
  const isObjectOfError = fields ? isAnotherThing(fields, json) : isNoData(json);
  if (!result.success || (isList ? isFailedList(json, result.data as Page<unknown>) : isObjectOfError))
    throw new ExplorerError("unreadable", `The answer of "${name}" has another shape`);
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
