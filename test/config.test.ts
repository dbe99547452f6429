import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConfigError, misspeltVariables, parseConfig, straySecrets } from "../src/config.js";
import { brokenLinesIn } from "../src/config-shapes.js";

const NEEDED = { DISCORD_TOKEN: "t", EXPLORER_API_URL: "https://explorer.example", EXPLORER_API_KEY: "k" };

const problemsOf = (env: Record<string, string>): readonly string[] => {
  try {
    parseConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
};

it.each([
  ["another address in the environment", { EXPLORER_API_URL: "https://test.example" }, ["EXPLORER_API_KEY"]],
  ["another address and key", { EXPLORER_API_URL: "https://test.example", EXPLORER_API_KEY: "other" }, []],
  ["the same address", { EXPLORER_API_URL: " https://explorer.example" }, []],
  ["the same address with a version", { EXPLORER_API_URL: "https://explorer.example/v1/" }, []],
  ["another key", { EXPLORER_API_KEY: "other" }, []],
  ["an empty address", { EXPLORER_API_URL: " " }, []],
])("a key in .env is only sent to the address in .env: %s", (_, env, stray) => {
  const file = { EXPLORER_API_URL: "https://explorer.example", EXPLORER_API_KEY: "k" };
  expect(straySecrets(file, env).map((line) => line.split(":")[0])).toEqual(stray);
  const suffixed = (each: object) =>
    Object.fromEntries(Object.entries(each).map(([name, value]) => [`${name}_TEST`, value]));
  expect(straySecrets(suffixed(file), suffixed(env))).toHaveLength(stray.length);
});

it.each([
  ["https://proxy.example/api/v10", ["DISCORD_TOKEN"]],
  ["https://discord.example/api", []],
])("the token in .env is only sent to the address in .env: %s", (url, stray) => {
  const file = { DISCORD_API_URL: "https://discord.example/api/v10", DISCORD_TOKEN: "t" };
  expect(straySecrets(file, { DISCORD_API_URL: url }).map((line) => line.split(":")[0])).toEqual(stray);
  expect(straySecrets(file, { DISCORD_API_URL: url, DISCORD_TOKEN: "other" })).toEqual([]);
});

it("a key in .env without an address there is for the address in the environment", () => {
  const file = { EXPLORER_API_URL: "", EXPLORER_API_KEY: "k" };
  expect(straySecrets(file, { EXPLORER_API_URL: "https://test.example" })).toEqual([]);
});

it.each<[what: string, text: string, lines: readonly number[]]>([
  ["variables, comments and empty lines", "A=1\n# B\n\n  export C = 2 # x\r\nD=", []],
  ["a note, twice", "note\nnote\nA=1\nnote", [1, 2, 4]],
  ["a colon, also in the last line", "A: 1\nB=2\nC:3", [1, 3]],
  ["a name with a space, in quotes or missing", 'A B=1\n"C"=2\n=\nD=3', [1, 2, 3]],
  ["a quoted value of several lines", 'A="one\ntwo\nthree"\nB=1\nnote', [5]],
  ["a quotation mark that only the next variable closes", 'A="one\nB="two"\nC=1', [1]],
  ["a quotation mark that is not closed", 'A="one\nB=1\nnote', [1, 3]],
])("lines of .env that are no variable are named: %s", (_, text, lines) => {
  expect(
    brokenLinesIn(text).map((each) => Number(/line (\d+) (?:isn't|has a quotation mark)/.exec(each)?.[1])),
  ).toEqual(lines);
});

describe("a misspelt variable", () => {
  it.each([
    [{ OPERATOR_CHANEL_ID: "1" }, ["OPERATOR_CHANEL_ID: did you mean OPERATOR_CHANNEL_ID?"]],
    [{ DISCORD_TOKNE: "t" }, ["DISCORD_TOKNE: did you mean DISCORD_TOKEN?"]],
    [{ redis_url: "redis://x" }, ["redis_url: did you mean REDIS_URL?"]],
    [
      { NETWORKS: "main,test", EXPLORER_API_KY_TEST: "k", EXPLORER_API_KEY_TEST: "k" },
      ["EXPLORER_API_KY_TEST: did you mean EXPLORER_API_KEY_TEST?"],
    ],
    [
      { NETWORKS: "main", EXPLORER_API_URL_TEST: "u", EXPLORER_API_KEY_MAIN: "k" },
      ["EXPLORER_API_URL_TEST: NETWORKS does not name TEST"],
    ],
    [{ EXPLORER_API_KEY_TEST: "k" }, ["EXPLORER_API_KEY_TEST: NETWORKS does not name TEST"]],
    // NETWORKS itself is reported.
    [{ NETWORKS: "test,texas", EXPLORER_API_KEY_TEXAS: "k", EXPLORER_API_KEY_TEST: "k" }, []],
    // It belongs to the network that came first, which only the state knows.
    [{ NETWORKS: "main,test", GOVERNANCE_CHANNEL_ID: "1" }, []],
    [
      { NETWORKS: "main,test", NETWORK_NAME: "MainNet" },
      ["NETWORK_NAME: did you mean NETWORK_NAME_MAIN? With NETWORKS, each network has its own"],
    ],
    [
      { NETWORKS: "test,main", NETWORK_NAME: "MainNet", NETWORK_NAME_TEST: "TestNet" },
      ["NETWORK_NAME: did you mean NETWORK_NAME_MAIN? With NETWORKS, each network has its own"],
    ],
    [
      {
        NETWORKS: "main,test",
        EXPLORER_API_URL_MAIN: "https://one.example",
        EXPLORER_API_KEY_MAIN: "key",
        EXPLORER_LINK_UPDATE: "https://scan.example/{id}",
        EXPLORER_LINK_PARTY_MAIN: "https://scan.example/{id}",
        COIN: "CC",
        EXPLORER_LINK_EVENT: " ",
      },
      [
        "EXPLORER_LINK_UPDATE: did you mean EXPLORER_LINK_UPDATE_MAIN? With NETWORKS, each network has its own",
      ],
    ],
    [
      { NETWORKS: "main", GOVERNANCE_CHANNEL_ID_TEST: "1", NETWORK_NAME_MAIN: "MainNet" },
      ["GOVERNANCE_CHANNEL_ID_TEST: NETWORKS does not name TEST"],
    ],
    // It may be the key of another network's explorer.
    [
      { NETWORKS: "main,test", EXPLORER_API_KEY_MAIN: "m", EXPLORER_API_KEY: "k" },
      ["EXPLORER_API_KEY has no effect. With NETWORKS, each network has its own"],
    ],
    [{ COIN_MARKET_KEY: "x" }, []],
    [{ DISCORD_TOKEN: "t", HTTP_PROXY: "x", HOME: "/", PATH: "/bin", LOGNAME: "me", NODE_ENV: "x" }, []],
  ])("is reported with a suggestion: %j", (env, hints) => {
    expect(misspeltVariables(env)).toEqual(hints);
  });
});

describe("the environment", () => {
  it("requires three variables and has defaults for the rest", () => {
    const config = parseConfig(NEEDED);
    expect(config).toMatchObject({
      discord: { apiUrl: "https://discord.com/api", guildId: undefined },
      networks: [
        { explorer: { apiUrl: "https://explorer.example/v1", requestsPerMinute: 120, concurrency: 4 } },
      ],
      governance: { pollSeconds: 60, channelId: undefined },
      dataDir: "./data",
      cacheMemoryMb: 64,
      logLevel: "info",
    });
  });

  it("reports all problems at once, one line each, with the variable's name and its valid values", () => {
    const problems = problemsOf({
      EXPLORER_API_URL: "ftp://x",
      GOVERNANCE_POLL_SECONDS: "0",
      LOG_LEVEL: "loud",
    });
    expect(problems.map((line) => line.split(" ")[0])).toEqual([
      "DISCORD_TOKEN",
      "EXPLORER_API_URL",
      "EXPLORER_API_KEY",
      "GOVERNANCE_POLL_SECONDS",
      "LOG_LEVEL",
    ]);
    expect(problems[3]).toContain("whole seconds from 1");
  });

  it.each(["DISCORD_TOKEN", "EXPLORER_API_KEY"])("refuses %s with quotation marks, and says why", (name) => {
    for (const value of ['"a.secret"', "'a.secret'"])
      expect(problemsOf({ ...NEEDED, [name]: value })).toEqual([
        `${name} is malformed. Remove the quotation marks around its value`,
      ]);
  });

  it("treats an empty string as unset", () => {
    expect(problemsOf({ ...NEEDED, REDIS_URL: "", HTTP_PORT: " ", GOVERNANCE_CHANNEL_ID: "" })).toEqual([]);
    expect(problemsOf({ ...NEEDED, DISCORD_TOKEN: "" })).toHaveLength(1);
  });

  it.each(["https://x.example?", "https://x.example/#"])(
    "refuses %s as the explorer's address",
    (address) => {
      expect(problemsOf({ ...NEEDED, EXPLORER_API_URL: address })[0]).toMatch(
        /^EXPLORER_API_URL is malformed/,
      );
    },
  );

  it.each([
    "https://x.example",
    "https://x.example/",
    "https://x.example/v1",
    "https://x.example/V1/",
    "https://x.example/v1/v1",
  ])("accepts %s as the explorer's address", (EXPLORER_API_URL) => {
    expect(parseConfig({ ...NEEDED, EXPLORER_API_URL }).networks[0].explorer.apiUrl).toBe(
      "https://x.example/v1",
    );
  });

  it.each([
    ["https://scan.example/update/{id}", true],
    ["https://scan.example/?q={id}#{id}", true],
    ["https://scan.example/update/", false],
    ["javascript:alert({id})", false],
    ["https://{id}.example/", false],
    ["https://user:word@scan.example/{id}", false],
    ["scan.example/{id}", false],
  ])("accepts %s as a link to the web explorer: %s", (EXPLORER_LINK_UPDATE, isOne) => {
    const problems = problemsOf({ ...NEEDED, EXPLORER_LINK_UPDATE });
    expect(problems.length === 0).toBe(isOne);
    if (!isOne) expect(problems[0]).toMatch(/^EXPLORER_LINK_UPDATE is malformed\. Set it to .*\{id\}/);
  });

  it.each([
    ["redis://:pass%25word@localhost", true],
    ["redis://user:p%40ss@localhost/2", true],
    ["redis://:100%@localhost", false],
    ["redis://us%er:word@localhost", false],
  ])("accepts %s as a Redis URL: %s", (REDIS_URL, isOne) => {
    const problems = problemsOf({ ...NEEDED, REDIS_URL });
    expect(problems.length === 0).toBe(isOne);
    if (!isOne) expect(problems[0]).toMatch(/^REDIS_URL is malformed\. .*%25/);
    expect(problems.join()).not.toMatch(/:word|100%@/);
  });

  it("accepts a range of shards, and rejects an invalid one", () => {
    const REDIS_URL = "redis://localhost/2";
    const shardsOf = (DISCORD_SHARDS: string) =>
      parseConfig({ ...NEEDED, DISCORD_SHARDS, REDIS_URL }).discord.shards;
    expect(problemsOf({ ...NEEDED, DISCORD_SHARDS: "0-3/16" })).toEqual([
      expect.stringMatching(/^REDIS_URL is missing. .*DISCORD_SHARDS/),
    ]);
    expect(problemsOf({ ...NEEDED, DISCORD_SHARDS: "0-15/16" })).toEqual([]);
    expect(shardsOf("")).toBe("auto");
    expect(shardsOf("auto")).toBe("auto");
    expect(shardsOf("0-3/16")).toEqual({ ids: [0, 1, 2, 3], count: 16 });
    expect(shardsOf("15/16")).toEqual({ ids: [15], count: 16 });
    for (const DISCORD_SHARDS of ["0-3", "16/16", "3-1/16", "0/0", "[0,1]", "all"])
      expect(problemsOf({ ...NEEDED, DISCORD_SHARDS })[0]).toContain(
        "DISCORD_SHARDS is malformed. Set it to auto",
      );
  });

  it("refuses a folder that only a shell can find", () => {
    expect(problemsOf({ ...NEEDED, DATA_DIR: "~/crier" })).toEqual([
      expect.stringMatching(/^DATA_DIR is malformed\. .*only a shell/i),
    ]);
    expect(problemsOf({ ...NEEDED, DATA_DIR: "./crier~" })).toEqual([]);
  });

  it("keeps a path in the explorer's address", () => {
    const EXPLORER_API_URL = "https://x.example/api/v1/";
    expect(parseConfig({ ...NEEDED, EXPLORER_API_URL }).networks[0].explorer.apiUrl).toBe(
      "https://x.example/api/v1",
    );
  });

  describe("with several networks", () => {
    const TWO = {
      ...NEEDED,
      NETWORKS: "main,test",
      EXPLORER_API_URL_TEST: "https://t.example",
      EXPLORER_API_KEY_TEST: "tk",
    };

    it("gives each network its own variables, and the first one also those without a network's name", () => {
      const config = parseConfig({
        ...TWO,
        NETWORK_NAME_TEST: "TestNet",
        COIN_TEST: "TC",
        EXPLORER_REQUESTS_PER_MINUTE: "50",
        EXPLORER_REQUESTS_PER_MINUTE_TEST: "7",
        EXPLORER_LINK_UPDATE: "https://main.example/{id}",
        GOVERNANCE_CHANNEL_ID: "123456789012345678",
        GOVERNANCE_CHANNEL_ID_TEST: "223456789012345678",
      });
      expect(config.governance.channelId).toBe("123456789012345678");
      expect(config.networks).toMatchObject([
        {
          id: "main",
          name: "main",
          governanceChannelId: undefined,
          explorer: {
            apiUrl: "https://explorer.example/v1",
            apiKey: "k",
            requestsPerMinute: 50,
            pages: { update: "https://main.example/{id}" },
          },
        },
        {
          id: "test",
          name: "TestNet",
          coin: "TC",
          governanceChannelId: "223456789012345678",
          explorer: {
            apiUrl: "https://t.example/v1",
            apiKey: "tk",
            requestsPerMinute: 7,
            pages: { update: undefined },
          },
        },
      ]);
    });

    it.each([
      ["an address without its key", { EXPLORER_API_URL_MAIN: "https://m.example" }, "EXPLORER_API_KEY_MAIN"],
      ["a key without its address", { EXPLORER_API_KEY_MAIN: "mk" }, "EXPLORER_API_URL_MAIN"],
    ])("does not send one network's key to another network's explorer: %s", (_, own, missing) => {
      expect(problemsOf({ ...TWO, ...own })).toEqual([expect.stringMatching(`^${missing} is missing.`)]);
    });

    it("never sends a key to another host, whichever variables are set in whatever order of networks", () => {
      const levels = ["", "_MAIN", "_TEST", "_DEV"] as const;
      const variables = levels.flatMap((level) => [`EXPLORER_API_URL${level}`, `EXPLORER_API_KEY${level}`]);
      const ids = fc.shuffledSubarray(["main", "test", "dev"], { minLength: 1 });
      fc.assert(
        fc.property(fc.subarray(variables), ids, (set, names) => {
          const hostOf = (name: string) =>
            name.replace("EXPLORER_API_URL", "host").replace("EXPLORER_API_KEY", "host");
          const env = Object.fromEntries(
            set.map((name) => [
              name,
              name.includes("URL") ? `https://${hostOf(name)}.example` : hostOf(name),
            ]),
          );
          try {
            const { networks } = parseConfig({ DISCORD_TOKEN: "t", NETWORKS: names.join(","), ...env });
            for (const { explorer } of networks)
              expect(new URL(explorer.apiUrl).hostname).toBe(`${explorer.apiKey}.example`.toLowerCase());
          } catch (error) {
            if (!(error instanceof ConfigError)) throw error;
            expect(error.problems.join()).toMatch(/EXPLORER_API_(URL|KEY)\w* is missing/);
          }
        }),
        { seed: 36 },
      );
    });

    it("does not mix an explorer's own variables with those for all networks", () => {
      const own = { EXPLORER_API_URL_MAIN: "https://m.example", EXPLORER_API_KEY_MAIN: "mk" };
      const link = { EXPLORER_LINK_UPDATE: "https://other.example/{id}" };
      expect(parseConfig({ ...TWO, ...own, ...link }).networks[0].explorer).toMatchObject({
        apiUrl: "https://m.example/v1",
        apiKey: "mk",
        pages: { update: undefined },
      });
    });

    it("reports all missing and malformed variables, network by network", () => {
      expect(
        problemsOf({
          DISCORD_TOKEN: "t",
          NETWORKS: "main,test,dev",
          EXPLORER_API_URL: "https://x.example",
          EXPLORER_API_KEY_TEST: "k",
          EXPLORER_CONCURRENCY_DEV: "0",
        }).map((line) => line.split(" Set it to")[0]),
      ).toEqual([
        "EXPLORER_API_KEY is missing.",
        "EXPLORER_API_URL_TEST is missing.",
        "EXPLORER_API_URL_DEV is missing.",
        "EXPLORER_API_KEY_DEV is missing.",
        "EXPLORER_CONCURRENCY_DEV is malformed.",
      ]);
    });

    it("rejects two networks with the same name, and reports each problem once", () => {
      expect(problemsOf({ ...TWO, NETWORK_NAME_MAIN: "Net", NETWORK_NAME_TEST: "net" })).toEqual([
        expect.stringMatching(/^NETWORK_NAME_TEST/),
      ]);
      expect(problemsOf({ ...TWO, EXPLORER_CONCURRENCY: "0" })).toHaveLength(1);
    });

    it("reports the problems of variables without a network's name if no name can be read", () => {
      expect(problemsOf({ NETWORKS: "MAIN,te-st", EXPLORER_API_URL: "notaurl" })).toEqual(
        expect.arrayContaining([
          expect.stringMatching(/^NETWORKS is malformed/),
          expect.stringMatching(/^EXPLORER_API_URL is malformed/),
        ]),
      );
    });

    it("reports the problems of the networks that can be read if NETWORKS is malformed", () => {
      const problems = problemsOf({ ...TWO, NETWORKS: "main,test,Dev", EXPLORER_CONCURRENCY_TEST: "0" });
      expect(problems).toEqual([
        expect.stringMatching(/^NETWORKS is malformed/),
        expect.stringMatching(/^EXPLORER_CONCURRENCY_TEST is malformed/),
      ]);
    });

    it.each(["main,main", "main,mainnet", "Main", "main,t", "main,,test", "main test", "main,test-net"])(
      "rejects %s as the list of networks",
      (NETWORKS) => {
        expect(problemsOf({ ...TWO, NETWORKS })).toEqual([
          expect.stringMatching(/^NETWORKS is malformed\. Set it to/),
        ]);
      },
    );

    it("says that a network's name begins with a letter", () => {
      expect(problemsOf({ ...TWO, NETWORKS: "1main,test" })).toEqual([
        expect.stringMatching(/^NETWORKS is malformed.* beginning with a letter/),
      ]);
    });
  });
});
