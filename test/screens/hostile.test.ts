import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkMessage } from "../../sandbox/discord/validate.js";
import { type SandboxExplorer, startSandboxExplorer } from "../../sandbox/explorer/server.js";
import { toMessage } from "../../src/discord/message.js";
import { ExplorerError } from "../../src/explorer/errors.js";
import { createHttp } from "../../src/explorer/http.js";
import { createExplorerService } from "../../src/explorer/service.js";
import { type Address, address, type ScreenName, screenNames, takesId } from "../../src/screens/addresses.js";
import { openScreen } from "../../src/screens/index.js";
import { createCache } from "../../src/storage/cache.js";
import { SMALL } from "../harness.js";

const HOSTILE = [
  "@everyone",
  "<@123456789012345678>",
  "<@&123456789012345678>",
  "**bold** __x__ ~~y~~ ||z||",
  "`code` ```block",
  "[x](https://evil.example)",
  "https://evil.example/phish",
  "<:e:123456789012345678>",
  ":smile:",
  "\u202eevil\u0000",
  "# big",
  "> quote",
  "- item\n- item",
  "1. one",
  "\\",
  "x".repeat(5_000),
  "🧨".repeat(3_000),
  "\ud800",
  "\n\n\n",
  " ",
  "",
  "-0",
  "1e999",
  "99999999999999999999.5",
  "javascript:alert(1)",
  "http://",
  "https://x.example/`)(",
];

/** Marks that Discord would act on, had they come through unescaped; code spans and our own links are set aside first. */
const LIVE = [
  /(?<!\\)<@/,
  /(?<!\\)<:e/,
  /(?<!\\)\*\*bold/,
  /(?<!\\)\[x\]/,
  /(?<!\\):smile:/,
  /https:\/\/evil\.example\/phish/,
  /\u202e/,
  /^# big/m,
  /^- item/m,
  /^> quote(?!$)/m,
];

const odd = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...HOSTILE) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>(
      null,
      0,
      -1,
      true,
      false,
      [],
      {},
      [[]],
      1e300,
      -0.5,
      1e-9,
      86_400,
      "1970-01-01T00:00:00Z",
    ),
  },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);

/** Every field of an answer that the chances hit, replaced; deep inside too. */
function spoil(value: unknown, chances: Iterator<readonly [number, unknown]>): unknown {
  const [chance, replacement] = chances.next().value ?? [1, null];
  if (chance < 0.15) return replacement;
  if (Array.isArray(value)) return value.map((each) => spoil(each, chances));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, spoil(each, chances)]));
  }
  return value;
}

function* cycle<T>(values: readonly T[]): Generator<T> {
  for (;;) yield* values;
}

describe("whatever the explorer returns", () => {
  let sandbox: SandboxExplorer;
  const ids: Partial<Record<ScreenName, string>> = {};

  beforeAll(async () => {
    sandbox = await startSandboxExplorer({
      size: { ...SMALL, parties: 60, voteRequests: 12, updates: 20 },
      lively: false,
    });
    const { ledger } = sandbox;
    const party = ledger.validators[0]?.party.id ?? "";
    const request = ledger.voteRequests[0]?.firstContractId ?? "";
    Object.assign(ids, { validator: party, party, rewards: party, vr: request, vv: request });
  });
  afterAll(() => sandbox.close());

  const open = async (to: Address) => {
    const get = createHttp({ apiUrl: `${sandbox.url}/v1`, apiKey: sandbox.key });
    const log = { warn: () => {} };
    const service = createExplorerService({
      upstream: ({ path, query }) => get(path, query, AbortSignal.timeout(5_000)),
      cache: createCache({ memoryMb: 8, log }),
    });
    const kept = new Map<string, string>();
    const keys = {
      remember: (key: string, id: string) => void kept.set(key, id),
      resolve: async (key: string) => kept.get(key),
    };
    const view = await openScreen(to, { explorer: service.for({ person: "ana" }) });
    return toMessage(view, to, undefined, keys);
  };

  const check = async (to: Address) => {
    let message: Awaited<ReturnType<typeof open>>;
    try {
      message = await open(to);
    } catch (error) {
      if (error instanceof ExplorerError) return;
      throw error;
    }
    checkMessage({ embeds: message.embeds, components: message.components }, []);
    const text = JSON.stringify(message);
    expect(text).not.toMatch(/undefined|NaN|\[object |Invalid Date|Infinity/);
    for (const [, seconds] of text.matchAll(/<t:(-?\d+)/g))
      expect(Number(seconds)).toBeGreaterThan(Date.UTC(2020) / 1_000);
    const shown = message.embeds.flatMap((embed) => [
      embed.title ?? "",
      embed.description ?? "",
      ...(embed.fields ?? []).map(({ value }) => value),
    ]);
    const prose = shown
      .map((each) => each.replace(/```[\s\S]*?```|`[^`\n]*`|\]\(https?:[^)\s]*\)/g, ""))
      .join("\n");
    for (const live of LIVE) expect(prose).not.toMatch(live);
  };

  it.each(screenNames)(
    "the screen %s stays within Discord's limits, or fails with a typed error",
    async (screen) => {
      const id = ids[screen];
      expect(takesId(screen)).toBe(id !== undefined);
      const to = address(screen, (id === undefined ? {} : { id }) as never);
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), odd), {
            minLength: 40,
            maxLength: 80,
          }),
          async (chances) => {
            const source = cycle(chances);
            sandbox.mood = (answer) => {
              // The page itself stays a page, or nothing would ever be rendered.
              if (Array.isArray(answer)) return answer.map((each) => spoil(each, source));
              if (typeof answer !== "object" || answer === null) return answer;
              return Object.fromEntries(
                Object.entries(answer).map(([key, value]) => [
                  key,
                  key === "content" && Array.isArray(value)
                    ? value.map((each) => spoil(each, source))
                    : spoil(value, source),
                ]),
              );
            };
            await check(to);
          },
        ),
        { numRuns: 40, endOnFailure: true },
      );
    },
  );

  it.each(screenNames)("the screen %s shows an answer whose every field is null", async (screen) => {
    const id = ids[screen];
    const nulls = (value: unknown): unknown =>
      typeof value === "object" && value !== null
        ? Object.fromEntries(Object.keys(value).map((key) => [key, null]))
        : null;
    sandbox.mood = (answer) => {
      if (Array.isArray(answer)) return answer.map(nulls);
      const page = answer as { content?: unknown[] };
      return page.content ? { ...page, content: page.content.map(nulls) } : nulls(answer);
    };
    await check(address(screen, (id === undefined ? {} : { id }) as never));
  });
});
