import type { VoteRequestListItem } from "../explorer/schema.js";
import type { Terms } from "./requests.js";

/** Something that happened to a vote request (or to several) that a subscription may want to hear. */
export type GovernanceEvent =
  | { readonly kind: "opened"; readonly key: string; readonly row: VoteRequestListItem }
  | {
      readonly kind: "digest";
      readonly keys: readonly string[];
      readonly rows: readonly VoteRequestListItem[];
    }
  | {
      readonly kind: "changed";
      readonly key: string;
      readonly sequence: number;
      readonly from: Terms;
      readonly to: Terms;
    }
  | {
      readonly kind: "vote";
      readonly key: string;
      readonly sequence: number;
      readonly voter: string;
      readonly from: boolean | null;
      readonly to: boolean | null;
    }
  | {
      readonly kind: "reminder";
      readonly key: string;
      /** `<deadline>:<before>`. */
      readonly reminder: string;
      /** Who has not been seen voting, where that is known. */
      readonly absent: readonly string[] | null;
    }
  | { readonly kind: "closed"; readonly key: string; readonly status: string | null };

/** What a subscription chooses among. */
export type Topic = "new" | "outcome" | "reminders" | "changes" | "votes";

export const TOPIC_OF: Readonly<Record<GovernanceEvent["kind"], Topic>> = {
  opened: "new",
  digest: "new",
  changed: "changes",
  vote: "votes",
  reminder: "reminders",
  closed: "outcome",
};

/** An event's id: the same event always has the same one. */
export function eventId(event: GovernanceEvent): string {
  switch (event.kind) {
    case "opened":
    case "closed":
      return `${event.key}:${event.kind}`;
    case "digest":
      return `${event.keys.join("+").slice(0, 200)}:digest`;
    case "changed":
    case "vote":
      return `${event.key}:${event.kind}:${event.sequence}`;
    case "reminder":
      return `${event.key}:reminder:${event.reminder}`;
  }
}

/** The requests that an event is about. */
export const keysOf = (event: GovernanceEvent): readonly string[] =>
  event.kind === "digest" ? event.keys : [event.key];
