import { describe, expect, it } from "vitest";
import { subscribeHereButton } from "../../src/delivery/watch-buttons.js";
import { createLinks, partsOf } from "../../src/discord/links.js";
import { MAX_ID_LENGTH } from "../../src/explorer/values.js";
import { snoozeButton } from "../../src/feeds/validator/buttons.js";
import {
  type Address,
  address,
  addressAt,
  buttonAddress,
  buttonAt,
  defineButton,
  givenParameters,
  isScreenName,
  parseAddress,
  screenAt,
  screenNames,
  takesId,
  wireIn,
  wireOf,
  withParameter,
  wordsOf,
} from "../../src/screens/addresses.js";
import { keyOf } from "../../src/storage/id-keys.js";
import { packId, readId, shortId } from "../../src/text/ids.js";
import { newLinks } from "../harness.js";

const PRINT = "ab".repeat(32);
const PARTY = `bob::1220${PRINT}`;
const PACKED = `bob*${"q6ur".repeat(10)}q6s`;
const CONTRACT = `00${"cd".repeat(68)}`;
const LONG = `${"x".repeat(180)}::1220${PRINT}`;

describe("packId", () => {
  it.each<[string, string, string]>([
    ["a party's fingerprint after a star", PARTY, PACKED],
    ["any other long hex after a tilde", CONTRACT, `~${Buffer.from(CONTRACT, "hex").toString("base64url")}`],
    [
      "an event's number after its update",
      `${"ab".repeat(34)}:7`,
      `~${Buffer.from("ab".repeat(34), "hex").toString("base64url")}:7`,
    ],
    [
      "a fingerprint followed by other text like any other hex",
      `bob::1220${PRINT}:7`,
      `bob::~${Buffer.from(`1220${PRINT}`, "hex").toString("base64url")}:7`,
    ],
    ["hex of an odd length unchanged", "a".repeat(33), "a".repeat(33)],
    ["short hex unchanged", "ab".repeat(15), "ab".repeat(15)],
    ["a name unchanged", "Quartz Digital", "Quartz Digital"],
    ["an id that would change in a round trip, with an escape mark", " spaced ", "! spaced "],
    ["an id that looks like a key, with an escape mark", "^key", "!^key"],
    ["an id that begins with the escape mark, with another one", "!x", "!!x"],
    ["upper-case hex unchanged, to keep its case", "AB".repeat(32), "AB".repeat(32)],
  ])("writes %s", (_, id, packed) => {
    expect(packId(id)).toBe(packed);
    expect(readId(packed)).toBe(id);
    expect(packId(id)).toBe(packed);
  });
});

describe("readId", () => {
  it.each<[string, string]>([
    [`  ${PARTY}\n`, PARTY],
    [`"${PARTY}"`, PARTY],
    [`'${PARTY}',`, PARTY],
    [`\`${PARTY}\``, PARTY],
    [`<${PARTY}>;`, PARTY],
    [`(${PARTY})`, PARTY],
    [`“${PARTY}”`, PARTY],
    [`[${PARTY}]`, PARTY],
    ["two   words", "two words"],
    ["zero\u200bwidth", "zerowidth"],
    [`https://x.example/party/${encodeURIComponent(PARTY)}`, PARTY],
    [`[a link](https://x.example/party/${encodeURIComponent(PARTY)})`, PARTY],
    [`see https://x.example/update/${PRINT}?tab=1#top`, PRINT],
    [`https://x.example/?id=${PRINT}`, PRINT],
    [`https://x.example/#/event/${PRINT}`, PRINT],
    ["https://x.example/validators/quartz", "quartz"],
    ["https://x.example/%E0%A4%A", "%E0%A4%A"],
    ["https://x.example/", ""],
    ["https://[", "https://"],
    ["..", ""],
    ["!..", ""],
    ["a..b", "a..b"],
    ["a.", "a."],
    [".a", ".a"],
    ["http://x.example/validators/quartz", "quartz"],
    [`${PACKED}x`, `${PACKED}x`],
    ["", ""],
  ])("reads %j", (text, id) => {
    expect(readId(text)).toBe(id);
  });
});

describe("shortId", () => {
  it.each<[string, string]>([
    [PARTY, "bob::1220ab…abab"],
    [`${"h".repeat(60)}::1220${PRINT}`, `${"h".repeat(39)}…::1220ab…abab`],
    [CONTRACT, "00cdcdcdcd…cdcdcd"],
    ["x".repeat(24), "x".repeat(24)],
    ["x".repeat(25), `${"x".repeat(10)}…${"x".repeat(6)}`],
    [`bob::1220${"ab".repeat(31)}`, "bob::1220a…ababab"],
    [`bob::1220${PRINT}c`, "bob::1220a…bababc"],
  ])("shows %s", (id, short) => {
    expect(shortId(id)).toBe(short);
  });
});

describe("addresses", () => {
  it("name each screen for people, too", () => {
    expect(wordsOf("validators")).toBe("validators");
    expect(wordsOf("voteRequest")).toBe("the vote request");
  });

  it("have a unique wire name for each screen", () => {
    expect(new Set(screenNames.map(wireOf)).size).toBe(screenNames.length);
  });

  it("map every wire name to its screen, and back", () => {
    for (const screen of screenNames) expect(screenAt(wireOf(screen))).toBe(screen);
    expect(screenNames.filter((screen) => wireOf(screen) !== screen)).toEqual([
      "voteRequest",
      "votes",
      "token",
      "contract",
    ]);
    for (const name of ["voteRequest", "votes", "token", "contract"]) expect(screenAt(name)).toBeUndefined();
    expect(screenAt("nothing")).toBeUndefined();
    expect(isScreenName("toString")).toBe(false);
    expect(screenNames.filter(takesId)).toEqual([
      "validator",
      "party",
      "rewards",
      "voteRequest",
      "votes",
      "voter",
      "transfer",
      "token",
      "contract",
      "event",
      "update",
      "lookup",
    ]);
  });

  it.each<[string, Record<string, string>, Record<string, unknown> | undefined]>([
    ["validators", {}, { status: "ALL", order: "DESC", page: 1, version: "" }],
    [
      "validators",
      { status: "ACTIVE", order: "ASC", page: "3", odd: "x" },
      { status: "ACTIVE", order: "ASC", page: 3, version: "" },
    ],
    ["validators", { status: "ODD" }, undefined],
    ["validators", { page: "0" }, undefined],
    ["validators", { page: "1.5" }, undefined],
    ["validators", { page: "510" }, { status: "ALL", order: "DESC", page: 510, version: "" }],
    ["validators", { page: "511" }, undefined],
    ["parties", { sort: "FIRST_SEEN_AT" }, { sort: "FIRST_SEEN_AT", order: "DESC", page: 1 }],
    ["price", { over: "30d" }, { over: "30d" }],
    ["price", { over: "1y" }, undefined],
    ["party", { id: ` ${PARTY} ` }, { id: PARTY }],
    ["party", {}, undefined],
    ["party", { id: "" }, undefined],
    ["party", { id: "x".repeat(300) }, { id: "x".repeat(300) }],
    ["party", { id: "x".repeat(301) }, undefined],
    ["rewards", { id: "x", page: "2" }, { id: "x", page: 2 }],
    ["help", {}, {}],
    ["nothing", {}, undefined],
  ])("parse %s with %j", (screen, given, parameters) => {
    expect(parseAddress(screen, given)).toEqual(parameters && { screen, parameters });
  });

  it("can be changed by one parameter at a time", () => {
    const from = address("validators", { status: "ACTIVE" });
    expect(withParameter(from, "page", 3)).toEqual(address("validators", { status: "ACTIVE", page: 3 }));
    expect(withParameter(from, "page", "4")).toEqual(address("validators", { status: "ACTIVE", page: 4 }));
    expect(withParameter(from, "page", 0)).toBeUndefined();
    expect(withParameter(from, "odd", 1)).toBeUndefined();
    expect(withParameter(address("help", {}), "page", 1)).toBeUndefined();
  });

  it("contain only non-default parameters, in order", () => {
    expect(givenParameters(address("validators", { page: 2, order: "ASC" }))).toEqual([
      ["order", "ASC"],
      ["page", "2"],
    ]);
    expect(givenParameters(address("party", { id: "x" }))).toEqual([["id", "x"]]);
  });
});

describe("links", () => {
  it.each<[string, Address, string]>([
    [
      "without default values",
      address("validators", { status: "ACTIVE", page: 3 }),
      "validators?status=ACTIVE&page=3",
    ],
    ["by its name only", address("help", {}), "help"],
    ["with its id packed", address("party", { id: PARTY }), `party?id=${PACKED}`],
    ["by the short name of its screen", address("votes", { id: "x", page: 2 }), "vv?page=2&id=x"],
    ["with separators escaped", address("lookup", { id: "50% & a=b?" }), "lookup?id=50%25 %26 a%3Db?"],
  ])("write an address %s", async (_, to, text) => {
    const links = newLinks();
    expect(links.encode(to, 100)).toBe(text);
    expect(await links.decode(text)).toEqual(to);
    expect(links.ids.size).toBe(0);
  });

  it("write a key for an id that does not fit, and store the id", async () => {
    const links = newLinks();
    const to = address("rewards", { id: LONG, page: 12 });
    expect(links.encode(to, 100)).toBe(`rewards?page=12&id=${keyOf(LONG)}`);
    expect(links.ids).toEqual(new Map([[keyOf(LONG), LONG]]));
    expect(await links.decode(`rewards?page=12&id=${keyOf(LONG)}`)).toEqual(to);
    expect(await newLinks().decode(`rewards?id=${keyOf(LONG)}`)).toBeUndefined();
    expect(keyOf(LONG)).toMatch(/^\^[\w-]{16}$/);
  });

  it("write an id that fits exactly, and its key if there is one character less", () => {
    const to = address("party", { id: PARTY });
    const length = `party?id=${PACKED}`.length;
    expect(newLinks().encode(to, length)).toHaveLength(length);
    const links = newLinks();
    expect(links.encode(to, length)).toContain(PACKED);
    // The same address was encoded before, but no longer fits.
    expect(links.encode(to, length - 1)).toContain(keyOf(PARTY));
    expect(links.encode(to, 100)).toContain(keyOf(PARTY));
  });

  it.each([
    "",
    "nothing",
    "party",
    "party?id",
    "party?id=",
    "price?over=%",
    "validators?page=x",
    "party?id=^nobodyknowsthis0",
  ])("do not open from %j", async (text) => {
    const decoded = await newLinks().decode(text);
    expect(decoded).toBeUndefined();
  });

  it("ignore unknown parameters, and allow question marks in a value", async () => {
    expect(await newLinks().decode("proposals?m=abc")).toEqual(address("proposals", {}));
    expect(await newLinks().decode("lookup?id=what?now")).toEqual(address("lookup", { id: "what?now" }));
  });

  it("fit into a custom_id, with a slot as prefix and a mark as suffix", () => {
    const links = newLinks();
    expect(links.customId("r", address("help", {}))).toBe("rhelp");
    expect(links.customId("A", address("proposals", {}), "mark")).toBe("Aproposals?m=mark");
    expect(links.customId("A", address("party", { id: "x" }), "mark")).toBe("Aparty?id=x&m=mark");
    const id = `${"y".repeat(30)}*${"q6ur".repeat(10)}q6s`;
    const to = address("party", { id: readId(id) });
    expect(links.customId("A", to)).toBe(`Aparty?id=${id}`);
    const marked = links.customId("A", address("party", { id: readId(id) }), "m".repeat(25));
    expect(marked).toContain(keyOf(readId(id)));
    expect(marked.length).toBeLessThanOrEqual(100);
    const exact = links.customId(
      "A",
      address("party", { id: "z".repeat(100 - "Aparty?id=&m=mark".length) }),
      "mark",
    );
    expect(exact).toHaveLength(100);
    expect(exact).not.toContain("^");
    expect(
      links.customId("A", address("party", { id: "z".repeat(101 - "Aparty?id=&m=mark".length) }), "mark"),
    ).toContain("^");
  });

  describe("with a network", () => {
    it.each<[Address, string]>([
      [address("help", {}), "te~help"],
      [address("validators", { status: "ACTIVE", page: 3 }), "te~validators?status=ACTIVE&page=3"],
      [address("party", { id: PARTY }), `te~party/${PACKED}`],
      [address("votes", { id: "x", page: 2 }), "te~vv/x?page=2"],
      [address("lookup", { id: "50% & a=b? /c" }), "te~lookup/50%25 %26 a%3Db%3F /c"],
      [buttonAddress(snoozeButton, { id: "x", since: 5, for: "1h" }), "te~snooze/x?since=5&for=1h"],
    ])("write %j", async (to, text) => {
      const links = newLinks("te");
      expect(links.encode(to, 100)).toBe(text);
      expect(await links.decode(text)).toEqual(to);
      expect(await newLinks().decode(text)).toEqual(to);
      expect(partsOf(text).network).toBe("te");
      expect(partsOf(text).wire).toBe(wireIn(to));
    });

    it("are not longer than links without a network, so that the longest ids still fit", () => {
      for (const screen of ["contract", "token", "voteRequest", "votes", "update", "party"] as const) {
        const to = address(screen, { id: CONTRACT });
        expect(newLinks("te").customId("A", to).length, screen).toBe(newLinks().customId("A", to).length);
      }
      const links = newLinks("te");
      expect(links.customId("A", address("contract", { id: CONTRACT }))).toHaveLength(99);
      expect(links.ids.size).toBe(0);
    });

    it("use a key for an id that does not fit", async () => {
      const links = newLinks("te");
      const text = links.encode(address("party", { id: LONG }), 100);
      expect(text).toBe(`te~party/${keyOf(LONG)}`);
      expect(await links.decode(text)).toEqual(address("party", { id: LONG }));
    });

    it.each(["price", "vr?id=~AKur", "c?id=te~x", "t?id=~AKur", "lookup?id=te~x", "~", ""])(
      "do not find a network in an old link: %s",
      (text) => expect(partsOf(text).network).toBeUndefined(),
    );
  });

  it("write an id as a choice value, and read it back", async () => {
    const links = newLinks();
    expect(links.choiceValue(PARTY)).toBe(PACKED);
    expect(links.choiceValue("x".repeat(100))).toBe("x".repeat(100));
    expect(links.choiceValue("x".repeat(101))).toBe(keyOf("x".repeat(101)));
    expect(await links.readChoice(PACKED)).toBe(PACKED);
    expect(await links.readChoice(keyOf("x".repeat(101)))).toBe(`!${"x".repeat(101)}`);
    expect(
      await createLinks({ remember() {}, hold() {}, resolve: async () => undefined }).readChoice("^unknown"),
    ).toBeUndefined();
  });
});

describe("buttons", () => {
  it("have names that differ from those of screens and other buttons", () => {
    expect(() => defineButton("price", {})).toThrow(RangeError);
    expect(() => defineButton("vr", {})).toThrow("Two links are named vr");
    expect(() => defineButton(snoozeButton.wire, {})).toThrow(RangeError);
    expect(buttonAt(snoozeButton.wire)).toBe(snoozeButton);
    expect(buttonAt("price")).toBeUndefined();
  });

  it("open only with valid parameters", () => {
    const parameters = { id: "x", since: 5, for: "1h", on: "card" };
    expect(addressAt("snooze", { id: "x", since: "5", for: "1h" })).toEqual({
      button: snoozeButton,
      parameters,
    });
    expect(addressAt("snooze", { id: "x", since: "5", for: "2h" })).toBeUndefined();
    expect(addressAt("unknown", {})).toBeUndefined();
  });

  it("take up to 25 ids as a subject", () => {
    const { wire } = subscribeHereButton;
    const withSubject = (id: string) => addressAt(wire, { feed: "validator", id });
    expect(withSubject("x".repeat(25 * MAX_ID_LENGTH))).toBeDefined();
    expect(withSubject("x".repeat(25 * MAX_ID_LENGTH + 1))).toBeUndefined();
    expect(withSubject("")).toBeUndefined();
  });

  it("write only non-default parameters", () => {
    const on = (where: "card" | "news") =>
      buttonAddress(snoozeButton, { id: "x", since: 5, for: "8h", on: where });
    expect(givenParameters(on("card")).map(([name]) => name)).toEqual(["id", "since", "for"]);
    expect(givenParameters(on("news"))).toContainEqual(["on", "news"]);
  });
});
