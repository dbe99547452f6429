import { pino } from "pino";
import type { Config } from "../config.js";

/** Messages for the operator. */
export interface Log {
  debug(details: object, message: string): void;
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

const HIDDEN = "[hidden]";

/** What a log line holds of an error. Not its address: those of interactions hold a token. */
function serializeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return String(error);
  const { name, message, stack, cause } = error;
  const code = "code" in error ? error.code : undefined;
  const status = "status" in error ? error.status : undefined;
  const inner = cause === undefined || depth > 3 ? undefined : serializeError(cause, depth + 1);
  return { type: name, message, code, status, stack, cause: inner };
}

/** A log whose lines never hold one of the secrets, wherever in them it would stand. */
export function createLog(config: Pick<Config, "logLevel">, secrets: readonly string[]): Log {
  const hide = (line: string) => secrets.reduce((text, secret) => text.replaceAll(secret, HIDDEN), line);
  return pino(
    {
      level: config.logLevel,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      serializers: { err: (error) => serializeError(error) },
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => process.stdout.write(hide(line)) },
  );
}
