import type { EndpointName } from "../../src/explorer/endpoints.js";

/** One thing that was found out about an endpoint. */
export interface Observation {
  readonly endpoint: EndpointName;
  /**
   * - "pass": as expected
   * - "unasked": there was nothing to ask for, so nothing is known
   * - "warn": different, and the bot copes
   * - "fail": different, and people miss something
   */
  readonly result: "pass" | "unasked" | "warn" | "fail";
  /** Where in the JSON, as a JSONPath; missing if it is about the endpoint as a whole. */
  readonly path?: string;
  readonly detail: string;
  /** A word in the detail that may be somebody's name. */
  readonly word?: string;
  /** A field's name in the path that nobody knows: in a map, it may be somebody's. */
  readonly name?: string;
  /** What it means for people, if it is not as expected. */
  readonly meaning?: string;
}

/** True if an endpoint answers in another way than its documentation says. */
export const isDifference = ({ result }: Observation): boolean => result === "warn" || result === "fail";
