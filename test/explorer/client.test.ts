import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type SandboxExplorer, startSandboxExplorer } from "../../sandbox/explorer/server.js";
import { type Fetched, fetchAnswer, type Request } from "../../src/explorer/client.js";
import { type EndpointName, endpointNames, type Parameters } from "../../src/explorer/endpoints.js";
import { ExplorerError } from "../../src/explorer/errors.js";
import { createHttp } from "../../src/explorer/http.js";
import { SMALL } from "../harness.js";

const problemOf = (work: Promise<unknown>) =>
  work.then(
    () => "no error",
    (error: unknown) => (error instanceof ExplorerError ? error.problem : error),
  );

/** A client with one function per endpoint */
type Client = { readonly [Name in EndpointName]: (parameters: Parameters<Name>) => Promise<Fetched<Name>> };

const createClient = (send: Request, onCall: (name: EndpointName) => void = () => {}) =>
  Object.fromEntries(
    endpointNames.map((name) => [
      name,
      (parameters: Parameters<typeof name>) => {
        onCall(name);
        return fetchAnswer(send, name, parameters);
      },
    ]),
  ) as Client;

describe("the explorer client", () => {
  let sandbox: SandboxExplorer;
  let client: Client;
  const called = new Set<EndpointName>();
  let send: (given: AbortSignal) => Request;
  const signal = () => AbortSignal.timeout(15_000);
  const page = { page: 0, size: 100 };

  beforeAll(async () => {
    sandbox = await startSandboxExplorer({ size: SMALL, lively: false });
    const get = createHttp({ apiUrl: `${sandbox.url}/v1`, apiKey: sandbox.key });
    send = (given) => (path, query) => get(path, query, given);
    client = createClient(
      (path, query) => get(path, query, signal()),
      (name) => called.add(name),
    );
  });
  afterAll(() => sandbox.close());

  it("hides the key in answers that repeat it", async () => {
    const body = JSON.stringify({ [sandbox.key]: { a: 1 }, price: "0.1", note: `Key ${sandbox.key}` });
    sandbox.injectFault({ kind: "body", body });
    const { json, text } = await send(signal())("market/get-price", {});
    sandbox.clearFaults();
    expect(json).toEqual({ "[hidden]": { a: 1 }, price: "0.1", note: "Key [hidden]" });
    expect(text).not.toContain(sandbox.key);
  });

  it("reads every endpoint", async () => {
    const { ledger } = sandbox;
    const [validator] = ledger.validators;
    const [event] = ledger.events;
    const [request] = ledger.voteRequests;
    if (!validator || !event || !request) throw new Error("The ledger is empty");
    const id = validator.party.id;
    expect(
      (await client.validators({ ...page, status: "ACTIVE" })).data.content.every((row) => row.active),
    ).toBe(true);
    expect((await client.newValidators({ size: 5 })).data).toHaveLength(5);
    expect((await client.validator({ validatorId: id })).data).toMatchObject({
      validator: id,
      active: validator.active,
    });
    expect((await client.validatorExists({ validatorId: id })).data).toBe(true);
    expect((await client.validatorExists({ validatorId: "nobody" })).data).toBe(false);
    expect(
      (await client.token({ contractId: ledger.tokens[0]?.contractId ?? "" })).data.registrars,
    ).toHaveLength(1);
    expect(
      (await client.parties({ ...page, sortBy: "FIRST_SEEN_AT", orderBy: "ASC" })).data.totalElements,
    ).toBe(120);
    expect((await client.topParties(page)).data.content).toHaveLength(100);
    expect((await client.party({ partyId: id })).data.holdingsSummaryResponse.summaries[0]?.party_id).toBe(
      id,
    );
    expect((await client.partyTypes({ partyId: id })).data.isValidator).toBe(true);
    expect((await client.transfers(page)).data.content[0]?.amount).toMatch(/^\d+(\.\d+)?$/);
    expect((await client.rewards({ partyId: id, ...page })).data.content.length).toBeGreaterThan(0);
    expect((await client.voteRequests(page)).data.content[0]?.contractId).toBe(request.contractId);
    expect((await client.votes(page)).data.content[0]?.accept).toBe(true);
    expect((await client.voteRequest({ id: request.contractId })).data.actionConfig).toMatchObject({
      tag: expect.any(String),
    });
    expect((await client.dashboard({})).data.totalSuperValidators).toBe(13);
    expect((await client.contracts(page)).data.content[0]?.signatories).toBe(2);
    expect(
      (await client.contract({ contractId: ledger.contracts[0]?.contractId ?? "" })).data.signatories,
    ).toHaveLength(1);
    expect((await client.events(page)).data.content[0]?.id).toBe(String(event.id));
    expect((await client.event({ eventId: event.eventId })).data.contractId).toBe(event.contractId);
    expect((await client.updates(page)).data.content[0]?.eventsCount).toBe(2);
    expect(Object.keys((await client.updateDetails({ updateId: event.updateId })).data)).toContain(
      "events_by_id",
    );
    expect((await client.price({})).data.price).toBe(String(ledger.price));
    expect([...called].toSorted()).toEqual(endpointNames.toSorted());
  });

  it("sends the key only in its header", async () => {
    const before = sandbox.requests.length;
    await client.parties({ ...page, sortBy: "LAST_ACTIVITY_AT" });
    const [request] = sandbox.requests.slice(before);
    expect(request?.key).toBe(sandbox.key);
    expect(JSON.stringify([request?.path, request?.query])).not.toContain(sandbox.key);
    expect(request?.query).toMatchObject({ page: "0", size: "100", sortBy: "LAST_ACTIVITY_AT" });
  });

  it("does not follow a redirect to another origin with the key", async () => {
    const seen: unknown[] = [];
    const elsewhere = createServer((request, response) => {
      seen.push(request.headers);
      response.end("{}");
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
    sandbox.injectFault({
      kind: "redirect",
      to: `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`,
    });
    const error = await client.price({}).catch((caught: unknown) => caught);
    sandbox.clearFaults();
    elsewhere.close();
    expect(error).toMatchObject({ problem: "refused", status: 302 });
    expect(String((error as Error).stack)).not.toContain(sandbox.key);
    expect(seen).toEqual([]);
  });

  it.each([
    [{ kind: "status", status: 404 }, "missing"],
    [{ kind: "status", status: 401 }, "refused"],
    [{ kind: "status", status: 403 }, "withheld"],
    [{ kind: "status", status: 400 }, "rejected"],
    [{ kind: "status", status: 429 }, "limited"],
    [{ kind: "status", status: 503 }, "failing"],
    [{ kind: "status", status: 206 }, "unreadable"],
    [{ kind: "status", status: 304 }, "unreadable"],
    [{ kind: "html" }, "unreadable"],
    [{ kind: "empty" }, "unreadable"],
    [{ kind: "body", body: "[1,2]" }, "unreadable"],
    [{ kind: "body", body: "null" }, "unreadable"],
    [{ kind: "bomb" }, "unreadable"],
    [{ kind: "huge" }, "unreadable"],
    [{ kind: "reset" }, "failing"],
    [{ kind: "silence" }, "slow"],
    [{ kind: "stall" }, "slow"],
  ] as const)("reports %j as %s", async (fault, problem) => {
    sandbox.injectFault(fault);
    const given = fault.kind === "silence" || fault.kind === "stall" ? AbortSignal.timeout(150) : signal();
    expect(await problemOf(createClient(send(given)).price({}))).toBe(problem);
    sandbox.clearFaults();
  });

  it.each<[answer: string, body: unknown, name: "transfers" | "updateDetails", problem: string]>([
    ["an error instead of rows", { content: [], error: "down for maintenance" }, "transfers", "unreadable"],
    ["an error's status instead of rows", { content: [], status: 503 }, "transfers", "unreadable"],
    ["an error beside a count", { content: [], totalElements: 0, error: "down" }, "transfers", "unreadable"],
    ["an empty list of errors", { content: [], errors: [] }, "transfers", "no error"],
    ["a message of success", { content: [], code: 0, message: "OK" }, "transfers", "no error"],
    ["an empty list", { content: [] }, "transfers", "no error"],
    [
      "an empty list with a comment",
      { content: [], totalElements: 0, message: "none" },
      "transfers",
      "no error",
    ],
    ["an empty list without an error", { content: [], error: null }, "transfers", "no error"],
    [
      "a problem of RFC 9457",
      { title: "Not Found", status: 404, instance: "/v1" },
      "updateDetails",
      "unreadable",
    ],
    ["a code and a message", { code: "500", msg: "Internal" }, "updateDetails", "unreadable"],
    ["details with a code", { update_id: "u", code: "500", events: [{ a: 1 }] }, "updateDetails", "no error"],
    ["a list with another code", { content: [], code: 1000 }, "transfers", "no error"],
    ["details with a status", { update_id: "u", status: 200, events: {} }, "updateDetails", "no error"],
  ])("tells an error that has the status 200 from data: %s", async (_, body, name, problem) => {
    sandbox.injectFault({ kind: "body", body: JSON.stringify(body) });
    const answer = name === "transfers" ? client.transfers(page) : client.updateDetails({ updateId: "u" });
    expect(await problemOf(answer)).toBe(problem);
    sandbox.clearFaults();
  });

  it.each([
    [{ registars: [{ partyId: "a::1" }], registrars: [] }, ["a::1"]],
    [{ registars: [{ partyId: "a::1" }], registrars: [{ partyId: "b::2" }] }, ["b::2"]],
    [{ registars: [], registrars: ["b::2"] }, ["b::2"]],
    [{ registars: [{ partyId: "a::1" }] }, ["a::1"]],
  ])("reads a token's registrars in both spellings: %j", async (given, expected) => {
    sandbox.injectFault({ kind: "body", body: JSON.stringify({ name: "Token", ...given }) });
    const { data } = await client.token({ contractId: "00" });
    expect(data.registrars.map(({ partyId }) => partyId)).toEqual(expected);
    sandbox.clearFaults();
  });

  it("accepts only a boolean as the answer of validatorExists", async () => {
    sandbox.injectFault({ kind: "body", body: '"true"' });
    expect(await problemOf(client.validatorExists({ validatorId: "x" }))).toBe("unreadable");
    sandbox.clearFaults();
  });
});
