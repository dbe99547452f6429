import type { EndpointName } from "../../src/explorer/endpoints.js";

/** A finding about an endpoint. */
export interface Observation {
  readonly endpoint: EndpointName;
  /**
   * - "pass": as expected
   * - "unasked": unknown, because there was nothing to ask for
   * - "warn": different, but the bot can handle it
   * - "fail": different, and people miss something
   */
  readonly result: "pass" | "unasked" | "warn" | "fail";
  /** Location in the JSON, as a JSONPath. Missing if it is about the whole endpoint. */
  readonly path?: string;
  readonly detail: string;
  /** A word in the detail that may be a name. */
  readonly word?: string;
  /** An undocumented field in the path. In a map, it may be a name. */
  readonly name?: string;
  /** Effect on people, if it is not as expected. */
  readonly meaning?: string;
}

/** True if an endpoint differs from its documentation. */
export const isDifference = ({ result }: Observation): boolean => result === "warn" || result === "fail";
