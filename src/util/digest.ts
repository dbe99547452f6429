import { hash } from "node:crypto";

/** Returns a short hash that identifies a text, for example in place of a secret. */
export const digest = (text: string, length = 8): string =>
  hash("sha256", text, "base64url").slice(0, length);
