import { hash } from "node:crypto";

/** A short name for what is not to be written out, such as an address with a key. */
export const digest = (text: string): string => hash("sha256", text, "base64url").slice(0, 8);
