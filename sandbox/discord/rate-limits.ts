import { DiscordError } from "./errors.js";
import type { Message } from "./world.js";

/** Discord's 429 with the time to wait. */
export class RateLimited extends DiscordError {
  constructor(
    readonly retryAfterMs: number,
    readonly scope: "user" | "global",
    code = 0,
  ) {
    super(429, code, "You are being rate limited.");
  }

  override get body(): object {
    return { ...super.body, retry_after: this.retryAfterMs / 1_000, global: this.scope === "global" };
  }
}

const HOUR = 3_600_000;
const OLD_MESSAGE = 30_046;

/** A fixed window rate limit. The window starts with its first request. */
class Window {
  #startedAt = Number.NEGATIVE_INFINITY;
  #used = 0;

  constructor(
    readonly most: number,
    readonly ms: number,
  ) {}

  /** Counts a request. Returns the remaining number, or the time in ms until the next is allowed. */
  take(now: number): { left: number; resetMs: number; over: boolean } {
    if (now - this.#startedAt >= this.ms) {
      this.#startedAt = now;
      this.#used = 0;
    }
    this.#used += 1;
    const resetMs = this.#startedAt + this.ms - now;
    return { left: Math.max(0, this.most - this.#used), resetMs, over: this.#used > this.most };
  }
}

/**
 * Rate limits as observed: 50 requests per second for a bot, 5 messages in 5 s for a channel. Callbacks are
 * not limited.
 */
export class RateLimits {
  recommendedShards = 1;
  /** False to disable all limits. */
  enforced = true;
  /** Time in which a channel takes five messages, in ms. Tests shorten it, so that they wait less. */
  channelMs = 5_000;
  /** Number of 429 responses. */
  refused = 0;
  readonly #global = new Window(50, 1_000);
  readonly #channels = new Map<string, Window>();
  readonly #oldEdits = new Map<string, Window>();

  /**
   * Counts a request. Returns the headers of its answer.
   * @throws {RateLimited}
   */
  take(method: string, path: string): Record<string, string> {
    if (!this.enforced || /^\/(interactions|webhooks)\//.test(path)) return {};
    const now = Date.now();
    const global = this.#global.take(now);
    if (global.over) throw this.#refuse(global.resetMs, "global");
    const [, channel] = /^\/channels\/(\d+)\/messages$/.exec(path) ?? [];
    if (method !== "POST" || channel === undefined) return {};
    const window = this.#channels.get(channel) ?? new Window(5, this.channelMs);
    this.#channels.set(channel, window);
    const taken = window.take(now);
    if (taken.over) throw this.#refuse(taken.resetMs, "user");
    return {
      "x-ratelimit-limit": "5",
      "x-ratelimit-remaining": String(taken.left),
      "x-ratelimit-reset-after": String(taken.resetMs / 1_000),
      "x-ratelimit-bucket": "messages",
    };
  }

  /**
   * Checks the limit for edits of messages over an hour old: three per hour and channel in this sandbox.
   * @throws {RateLimited} 30046
   */
  checkEdit(message: Message, now: number): void {
    if (!this.enforced || now - Date.parse(message.timestamp) < HOUR) return;
    const window = this.#oldEdits.get(message.channel_id) ?? new Window(3, HOUR);
    this.#oldEdits.set(message.channel_id, window);
    const taken = window.take(now);
    if (taken.over) throw this.#refuse(taken.resetMs, "user", OLD_MESSAGE);
  }

  headersOf(error: DiscordError): Record<string, string> {
    if (!(error instanceof RateLimited)) return {};
    return {
      "retry-after": String(Math.ceil(error.retryAfterMs / 1_000)),
      "x-ratelimit-scope": error.scope,
      ...(error.scope === "global"
        ? { "x-ratelimit-global": "true" }
        : {
            "x-ratelimit-limit": "5",
            "x-ratelimit-remaining": "0",
            "x-ratelimit-reset-after": String(error.retryAfterMs / 1_000),
            "x-ratelimit-bucket": error.code === OLD_MESSAGE ? "edits of old messages" : "messages",
          }),
    };
  }

  #refuse(ms: number, scope: "user" | "global", code = 0): RateLimited {
    this.refused += 1;
    return new RateLimited(ms, scope, code);
  }
}
