import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import findMyWay from "find-my-way";
import { type Fault, type InjectedFault, misbehave } from "./faults.js";
import { Ledger, type LedgerOptions } from "./ledger.js";
import * as rows from "./rows.js";

/**
 * Modifies an answer before it is sent. Receives the pattern of its path, its query, and the path's
 * parameters.
 */
export type Mood = (
  answer: unknown,
  path: string,
  query: Query,
  parameters: Readonly<Record<string, string | undefined>>,
) => unknown;

export interface SandboxExplorerOptions extends LedgerOptions {
  /** The accepted API key. */
  readonly key?: string;
  /** Modifies each answer before it is sent. */
  readonly mood?: Mood;
}

/** A received request. */
export interface SeenRequest {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly key: string | undefined;
}

/**
 * A simulated explorer on this machine, with all endpoints of docs/explorer-api.md over a simulated ledger.
 */
export interface SandboxExplorer {
  /** Base URL, without /v1. */
  readonly url: string;
  readonly key: string;
  readonly ledger: Ledger;
  /** All received requests, oldest first. */
  readonly requests: SeenRequest[];
  /** Adds a fault until the faults are cleared. */
  injectFault(fault: Fault, where?: Omit<InjectedFault, "fault">): void;
  /** Removes all faults. */
  clearFaults(): void;
  /** Sets the accepted API keys. */
  accept(...keys: string[]): void;
  mood: Mood | undefined;
  close(): Promise<void>;
}

/** A request that is answered with an error. */
export class Refused extends Error {
  constructor(readonly status: number) {
    super(`Answered ${status}`);
  }
}

type Query = Readonly<Record<string, string>>;

function wholeNumber(text: string | undefined, otherwise: number, least: number, most: number): number {
  const value = text === undefined ? otherwise : Number(text);
  if (!Number.isInteger(value) || value < least || value > most) throw new Refused(400);
  return value;
}

function oneOf<T extends string>(text: string | undefined, values: readonly [T, ...T[]]): T {
  if (text === undefined) return values[0];
  const value = values.find((each) => each === text);
  if (value === undefined) throw new Refused(400);
  return value;
}

/** Returns a page of a list that is sorted with the newest or largest first. */
function page<T>(all: readonly T[], query: Query, toRow: (item: T) => unknown) {
  const number = wholeNumber(query.page, 0, 0, 50);
  const size = wholeNumber(query.size, 20, 1, 100);
  const sorted = oneOf(query.orderBy, ["DESC", "ASC"]) === "DESC" ? all : [...all].reverse();
  const content = sorted.slice(number * size, (number + 1) * size);
  const sort = { sorted: true, empty: false, unsorted: false };
  return {
    content: content.map(toRow),
    pageable: {
      sort,
      pageSize: size,
      pageNumber: number,
      offset: number * size,
      paged: true,
      unpaged: false,
    },
    last: (number + 1) * size >= all.length,
    totalPages: Math.ceil(all.length / size),
    totalElements: all.length,
    totalCount: all.length,
    size,
    number,
    sort,
    first: number === 0,
    numberOfElements: content.length,
    empty: content.length === 0,
  };
}

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Refused(404);
  return value;
}

/** Answers a request to one path. */
export type Handler = (query: Query, parameters: Readonly<Record<string, string | undefined>>) => unknown;

/** Returns the handlers by path pattern. */
export function routes(ledger: Ledger): Readonly<Record<string, Handler>> {
  const partyAt = (id: string | undefined) => found(ledger.parties.find((each) => each.id === id));
  const validatorAt = (id: string | undefined) => ledger.validators.find((each) => each.party.id === id);
  return {
    "/v1/validators": (query) => {
      oneOf(query.sortBy, ["LAST_ACTIVE"]);
      const status = oneOf(query.status, ["ALL", "ACTIVE", "INACTIVE"]);
      const all = ledger.validators.filter(
        (each) => status === "ALL" || each.active === (status === "ACTIVE"),
      );
      all.sort((a, b) => b.lastActiveAt - a.lastActiveAt);
      return page(all, query, rows.validatorSummary);
    },
    "/v1/validators/new": (query) =>
      [...ledger.validators]
        .sort((a, b) => b.createdAt - a.createdAt)
        .slice(0, wholeNumber(query.size, 10, 1, 100))
        .map(rows.validatorSummary),
    "/v1/validators/:id": (_, { id }) => rows.validatorDetail(found(validatorAt(id))),
    "/v1/validators/:id/exist": (_, { id }) => validatorAt(id) !== undefined,
    "/v1/tokens/:id": (_, { id }) =>
      rows.tokenDetail(found(ledger.tokens.find((each) => each.contractId === id))),
    "/v1/parties": (query) => {
      const key =
        oneOf(query.sortBy, ["LAST_ACTIVITY_AT", "FIRST_SEEN_AT"]) === "FIRST_SEEN_AT"
          ? "firstSeen"
          : "lastSeen";
      return page(
        [...ledger.parties].sort((a, b) => b[key] - a[key]),
        query,
        rows.partyItem,
      );
    },
    "/v1/parties/top": (query) => {
      oneOf(query.sortBy, ["BALANCE"]);
      const all = ledger.parties.map(rows.partyItem).sort((a, b) => b.balance - a.balance);
      return page(all, query, (each) => each);
    },
    "/v1/parties/:id": (_, { id }) => rows.partyDetail(partyAt(id), ledger),
    "/v1/parties/:id/types": (_, { id }) => {
      const party = partyAt(id);
      const validator = validatorAt(id);
      return {
        isAccount: party.name !== null,
        isValidator: validator !== undefined,
        isSv: validator?.isSv ?? false,
      };
    },
    "/v1/transfers": (query) => {
      oneOf(query.sortBy, ["CREATED_AT"]);
      return page(ledger.transfers, query, (each) => rows.transferItem(each, ledger));
    },
    "/v1/rewards/:id": (query, { id }) => page(rows.rewardItems(partyAt(id), ledger), query, (each) => each),
    "/v1/governance/vote-requests": (query) =>
      page(ledger.voteRequests, query, (each) => rows.voteRequestItem(each, ledger)),
    "/v1/governance/vote-requests/votes": (query) => page(rows.voteItems(ledger), query, (each) => each),
    "/v1/governance/vote-requests/:id/details": (_, { id }) =>
      rows.voteRequestDetail(found(ledger.findRequest(id ?? "")), ledger),
    "/v1/dashboard": () => rows.dashboard(ledger),
    "/v1/contracts": (query) => {
      oneOf(query.sortBy, ["AGE"]);
      return page(ledger.contracts, query, rows.contractItem);
    },
    "/v1/contracts/:id": (_, { id }) =>
      rows.contractDetail(found(ledger.contracts.find((each) => each.contractId === id)), ledger),
    "/v1/events": (query) => {
      oneOf(query.sortBy, ["AGE"]);
      return page(ledger.events, query, rows.eventItem);
    },
    "/v1/events/:id": (_, { id }) =>
      rows.eventDetail(found(ledger.events.find((each) => each.eventId === id))),
    "/v1/updates": (query) => {
      oneOf(query.sortBy, ["AGE"]);
      return page(ledger.updates, query, rows.updateItem);
    },
    "/v1/updates/:id/raw-details": (_, { id }) =>
      rows.updateDetails(found(ledger.updates.find((each) => each.updateId === id))),
    "/v1/market/get-price": () => ({
      price: ledger.price,
      change24h: ledger.change24h,
      updateTimestamp: ledger.priceAt,
    }),
  };
}

/** Converts a value to JSON with integers of any size, because event ids exceed 2^53. */
const toJson = (value: unknown): string =>
  JSON.stringify(value, (_, each) => (typeof each === "bigint" ? `bigint:${each}` : each)).replace(
    /"bigint:(\d+)"/g,
    "$1",
  );

/** Starts the sandbox on a free port of this machine. */
export async function startSandboxExplorer(options: SandboxExplorerOptions = {}): Promise<SandboxExplorer> {
  const { key = "sandbox-explorer-key" } = options;
  const ledger = new Ledger(options);
  const requests: SeenRequest[] = [];
  let faults: { injected: InjectedFault; left: number }[] = [];
  let keys: readonly string[] = [key];

  const send = (response: ServerResponse, status: number, body: unknown) => {
    response.writeHead(status, { "content-type": "application/json" }).end(toJson(body));
  };
  const router = findMyWay({
    maxParamLength: 2_000,
    defaultRoute: (_, response) => send(response as ServerResponse, 404, {}),
  });
  for (const [path, handler] of Object.entries(routes(ledger))) {
    router.on("GET", path, (_, response, parameters, __, query) => {
      ledger.move();
      const answer = handler(query as Query, parameters);
      send(
        response as ServerResponse,
        200,
        sandbox.mood ? sandbox.mood(answer, path, query as Query, parameters) : answer,
      );
    });
  }

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? "/", "http://sandbox");
    const given = request.headers["x-api-key"];
    const sent = typeof given === "string" ? given : undefined;
    requests.push({ path: url.pathname, query: Object.fromEntries(url.searchParams), key: sent });
    const active = faults.find(
      ({ injected, left }) => left > 0 && (injected.path?.test(url.pathname) ?? true),
    );
    if (active) {
      active.left -= 1;
      if (await misbehave(active.injected.fault, response)) return;
    }
    if (sent === undefined || !keys.includes(sent)) throw new Refused(401);
    router.lookup(request, response);
  };

  const server: Server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (!response.headersSent)
        send(response, error instanceof Refused ? error.status : 500, { error: String(error) });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;

  const sandbox: SandboxExplorer = {
    url: `http://127.0.0.1:${port}`,
    key,
    ledger,
    requests,
    mood: options.mood,
    injectFault(fault, where = {}) {
      faults.push({ injected: { fault, ...where }, left: where.times ?? Number.POSITIVE_INFINITY });
    },
    clearFaults() {
      faults = [];
    },
    accept(...accepted) {
      keys = accepted;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return sandbox;
}
