import { DiscordAPIError, HTTPError, RateLimitError } from "discord.js";
import { describe, expect, it } from "vitest";
import {
  isTemporary,
  type PostProblem,
  problemOf,
  retryAfterOf,
  wordsFor,
} from "../../src/discord/problems.js";

const refused = (status: number, code: number) =>
  new DiscordAPIError({ message: "no", code }, code, status, "POST", "https://discord.example", {});
const limited = (given: { timeToReset?: number; retryAfter?: number }) =>
  new RateLimitError({
    timeToReset: 0,
    retryAfter: 0,
    limit: 5,
    method: "POST",
    hash: "h",
    url: "u",
    route: "r",
    majorParameter: "m",
    global: false,
    sublimitTimeout: 0,
    scope: "user",
    ...given,
  });

describe("the kind of a failure", () => {
  it.each<[string, unknown, string, string]>([
    ["the channel is gone", refused(404, 10_003), "channel-deleted", "the channel was deleted"],
    ["the message is gone", refused(404, 10_008), "deleted-by-somebody", "Discord refused it (10008)"],
    [
      "the channel cannot be seen",
      refused(403, 50_001),
      "no-access",
      "the bot can't see the channel. Grant it View Channel there",
    ],
    [
      "the bot may not write",
      refused(403, 50_013),
      "permanent",
      "the bot can't post there. Grant it Send Messages and Embed Links",
    ],
    ["the message is invalid", refused(400, 50_035), "invalid", "Discord refused it (50035)"],
    [
      "the forum requires a tag",
      refused(400, 40_067),
      "permanent",
      "the forum requires a tag. Subscribe again to set one",
    ],
    [
      "there are too many threads",
      refused(400, 160_006),
      "refused-for-now",
      "the server has too many active threads",
    ],
    ["the thread is locked", refused(400, 50_083), "permanent", "the thread is locked"],
    ["the thread is locked, but not archived", refused(400, 160_005), "permanent", "the thread is locked"],
    [
      "the tag of the posts was deleted",
      refused(404, 10_087),
      "permanent",
      "the posts' tag was deleted. Resume the subscription to pick another",
    ],
    [
      "the person does not accept messages",
      refused(403, 50_007),
      "permanent",
      "Discord won't let the bot message this person",
    ],
    ["a token was reset", refused(401, 0), "refused-for-now", "Discord refused it (0)"],
    ["401 with a code", refused(401, 40_001), "refused-for-now", "Discord refused it (40001)"],
    ["the IP address is banned", refused(403, 0), "refused-for-now", "Discord refused it (0)"],
    ["the route is rate limited", refused(429, 20_028), "refused-for-now", "Discord refused it (20028)"],
    ["Discord has an internal error", refused(500, 0), "unknown", "Discord refused it (0)"],
    [
      "Discord has an internal error with a code",
      refused(503, 50_109),
      "unknown",
      "Discord refused it (50109)",
    ],
    ["any other refusal", refused(400, 99_999), "permanent", "Discord refused it (99999)"],
    ["the request queue is rate limited", limited({}), "refused-for-now", "Discord did not answer"],
    [
      "Discord's host returns an HTTP error",
      new HTTPError(502, "Bad Gateway", "POST", "u", {}),
      "unknown",
      "Discord did not answer",
    ],
    ["the connection fails", new Error("socket hang up"), "unknown", "Discord did not answer"],
    ["the thrown value is not an error", "RateLimit", "unknown", "Discord did not answer"],
  ])("%s", (_, error, problem, words) => {
    expect(problemOf(error)).toBe(problem);
    expect(wordsFor(error)).toBe(words);
  });
});

it.each<[PostProblem, boolean]>([
  ["refused-for-now", true],
  ["unknown", true],
  ["no-access", false],
  ["permanent", false],
  ["invalid", false],
  ["deleted-by-somebody", false],
])("%s is temporary: %s", (problem, temporary) => {
  expect(isTemporary(problem)).toBe(temporary);
});

describe("the wait that Discord asks for", () => {
  it.each<[unknown, number | undefined]>([
    [limited({ timeToReset: 700, retryAfter: 300 }), 700],
    [limited({ timeToReset: 100, retryAfter: 300 }), 300],
    [limited({ timeToReset: 200, retryAfter: Number.NaN }), 200],
    [limited({ retryAfter: 86_400_000 }), 3_600_000],
    [Object.assign(new Error(), { name: "RateLimitError" }), 0],
    [refused(429, 0), undefined],
    [new Error("other"), undefined],
    [undefined, undefined],
  ])("is read from a rate limit error", (error, ms) => {
    expect(retryAfterOf(error)).toBe(ms);
  });
});
