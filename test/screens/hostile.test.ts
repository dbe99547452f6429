import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkMessage } from "../../sandbox/discord/validate.js";
import { type SandboxExplorer, startSandboxExplorer } from "../../sandbox/explorer/server.js";
import { createCharts } from "../../src/charts/charts.js";
import { createDirectory } from "../../src/directory/directory.js";
import { createNames } from "../../src/directory/names.js";
import { createLinks } from "../../src/discord/links.js";
import { createRenderer } from "../../src/discord/message.js";
import { ExplorerError } from "../../src/explorer/errors.js";
import { createHttp } from "../../src/explorer/http.js";
import { createExplorerService } from "../../src/explorer/service.js";
import {
  address,
  type ScreenAddress,
  type ScreenName,
  screenNames,
  takesId,
} from "../../src/screens/addresses.js";
import { openScreen } from "../../src/screens/index.js";
import { createCache } from "../../src/storage/cache.js";
import type { State } from "../../src/storage/state.js";
import { PersonError } from "../../src/util/person-error.js";
import { newState, SMALL } from "../harness.js";
import { expectSafe, HOSTILE } from "./checks.js";

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

/** Replaces random parts of a value, at any depth. */
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

describe("screens with arbitrary explorer answers", () => {
  let sandbox: SandboxExplorer;
  let state: State;
  const ids: Partial<Record<ScreenName, string>> = {};
  const screens = {
    directory: createDirectory(),
    charts: createCharts({ error: () => {} }),
    rhythms: {
      intervals: async () => () => ({ ms: 3_900_000, isOwn: false }),
      rounds: async () => undefined,
    },
    prices: { samples: async () => [] },
    commands: () => [],
    networkName: "TestNet",
    watchLinks: () => [],
    subscribeLinks: () => [],
    others: [],
    watchNames: ["tide"],
  };

  beforeAll(async () => {
    state = newState();
    sandbox = await startSandboxExplorer({
      size: { ...SMALL, parties: 60, voteRequests: 12, updates: 20 },
      lively: false,
    });
    const { ledger } = sandbox;
    const party = ledger.validators[0]?.party.id ?? "";
    const request = ledger.voteRequests[0]?.firstContractId ?? "";
    const [update, token] = [ledger.updates[0], ledger.tokens[0]];
    Object.assign(ids, { validator: party, party, rewards: party, voteRequest: request, votes: request });
    Object.assign(ids, { voter: ledger.superValidators[0]?.id });
    Object.assign(ids, {
      lookup: party,
      token: token?.contractId,
      contract: ledger.contracts[0]?.contractId,
    });
    Object.assign(ids, { transfer: sandbox.ledger.transfers[0]?.event.eventId ?? "" });
    Object.assign(ids, { event: update?.events[0]?.eventId, update: update?.updateId });
    const names = HOSTILE.map((name, at) => ({ id: `${at}`, name, active: at % 2 === 0, version: name }));
    await screens.directory.replace("validator", names, Date.now());
  });
  afterAll(() => Promise.all([sandbox.close(), state.close()]));

  const open = async (to: ScreenAddress) => {
    const get = createHttp({ apiUrl: `${sandbox.url}/v1`, apiKey: sandbox.key });
    const log = { warn: () => {} };
    const service = createExplorerService({
      upstream: ({ path, query }) => get(path, query, AbortSignal.timeout(5_000)),
      cache: createCache({ memoryMb: 8, log }),
    });
    const kept = new Map<string, string>();
    const keys = {
      remember: (key: string, id: string) => void kept.set(key, id),
      hold() {},
      resolve: async (key: string) => kept.get(key),
    };
    const { view, address: at } = await openScreen(to, {
      ...screens,
      names: createNames({
        directory: screens.directory,
        explorer: service.for("background"),
        state,
        log,
      }),
      explorer: service.for({ person: "ana" }),
    });
    return createRenderer(createLinks(keys)).screen(view, at, undefined);
  };

  const check = async (to: ScreenAddress) => {
    let message: Awaited<ReturnType<typeof open>>;
    try {
      message = await open(to);
    } catch (error) {
      if (error instanceof ExplorerError || error instanceof PersonError) return;
      throw error;
    }
    const files = message.files.map(({ name, attachment }) => ({ name, bytes: attachment.length }));
    checkMessage({ embeds: message.embeds, components: message.components }, files);
    expectSafe(message);
  };

  it.each(screenNames)(
    "the screen %s stays within Discord's limits, or fails with a typed error",
    async (screen) => {
      const id = ids[screen];
      expect(takesId(screen), `${screen} takes an id: give it one in ids`).toBe(id !== undefined);
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
              // Keep the structure of the page, or nothing would be rendered.
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

  it.each(screenNames)("the screen %s copes with null in every field", async (screen) => {
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
