import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { SandboxExplorer } from "../explorer/server.js";
import type { Stack } from "../stack.js";
import { createDemoServer } from "./demo-server.js";
import type { BotState, Deed, ExplorerMood, Turn } from "./snapshot.js";
import { snapshotOf } from "./snapshots.js";
import { act, type Levers, turn } from "./user-actions.js";

/** The sandbox's web page. */
export interface Page {
  readonly url: string;
  /** Starts or stops the bot, like the button on the page. */
  runBot(run: boolean): Promise<void>;
  close(): Promise<void>;
}

export interface PageOptions {
  /** Preferred port. A free one is used if it is taken. 0 for any port. */
  readonly port: number;
  /** True to bundle the page each time it is loaded. */
  readonly fresh?: boolean;
}

const file = (name: string) => fileURLToPath(new URL(`./client/${name}`, import.meta.url));

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [file("main.ts")],
    bundle: true,
    format: "esm",
    target: "es2022",
    minify: true,
    write: false,
    logLevel: "error",
  });
  return outputFiles[0]?.text ?? "";
}

/** Keeps all requests on this machine, whatever URLs the bot's embeds contain. */
const HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
} as const;

const MAX_BODY = 64 * 1024;

async function readJson<T>(request: IncomingMessage): Promise<T> {
  let text = "";
  for await (const chunk of request) {
    text += String(chunk);
    if (text.length > MAX_BODY) throw new RangeError("That is too much");
  }
  return JSON.parse(text) as T;
}

/** True if a request comes from the page itself. Pages of other sites must not act here or read data. */
function isOwn(request: IncomingMessage, port: number): boolean {
  const { host, origin, "sec-fetch-site": site } = request.headers;
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
  if (host === undefined || !hosts.includes(host)) return false;
  if (origin !== undefined && origin !== `http://${host}`) return false;
  return site === undefined || site === "same-origin" || site === "none";
}

const FAULTS: Readonly<
  Record<Exclude<ExplorerMood, "well">, Parameters<Stack["explorer"]["injectFault"]>[0]>
> = {
  slow: { kind: "slow", ms: 5_000 },
  failing: { kind: "status", status: 500 },
  gone: { kind: "reset" },
};

/** Time for which changes are collected before a snapshot is sent, in ms. */
const GATHER_MS = 40;

/** Serves the page on 127.0.0.1. It starts and stops the bot of a stack. */
export async function servePage(place: Stack, { port, fresh = false }: PageOptions): Promise<Page> {
  const { world, channels } = place.discord;
  const demoServer = createDemoServer(place.discord);
  let script = await bundle();
  let bot: BotState = "stopped";
  let stopping: Promise<unknown> | undefined;
  /** Behavior of each network's explorer. */
  const moods = new Map<SandboxExplorer, ExplorerMood>();
  const offset = () => place.now() - Date.now();

  const setBot = (state: BotState) => {
    bot = state;
    world.changed();
  };
  const levers: Levers = {
    async runBot(run) {
      if (bot === "starting" || (bot === "running") === run) return;
      if (!run) {
        setBot("stopped");
        stopping = place.bot().stop();
        await stopping;
        return;
      }
      setBot("starting");
      try {
        await stopping;
        await place.start();
        setBot("running");
        void place.bot().exited.then(() => bot === "running" && setBot("stopped"));
      } catch (error) {
        setBot("stopped");
        throw error;
      }
    },
    setExplorer(explorer, mood) {
      moods.set(explorer, mood);
      explorer.clearFaults();
      if (mood !== "well") explorer.injectFault(FAULTS[mood]);
    },
  };

  /** Returns the person and the channel of a request. */
  const placeOf = (url: URL) => {
    const user = demoServer.user(url.searchParams.get("as") ?? "");
    const wanted = url.searchParams.get("channel") ?? "";
    const shown = demoServer.channels(user);
    // A deleted channel gives way to the first one, which the page shows as well.
    const channel = shown.find(({ id }) => id === wanted) ?? shown[0] ?? channels.general;
    return { user, channel };
  };

  /** Returns the explorer of the selected network. */
  const explorerOf = (url: URL) =>
    (url.searchParams.get("network") === "1" && place.second) || place.explorer;

  const stream = (url: URL, response: ServerResponse) => {
    const { user, channel } = placeOf(url);
    const explorer = explorerOf(url);
    response.writeHead(200, { ...HEADERS, "content-type": "text/event-stream" });
    let timer: NodeJS.Timeout | undefined;
    const send = () => {
      timer = undefined;
      const around = { bot, explorer, mood: moods.get(explorer) ?? "well", offset: offset() };
      response.write(`data: ${JSON.stringify(snapshotOf(place, demoServer, around, user, channel))}\n\n`);
    };
    const changed = () => {
      timer ??= setTimeout(send, GATHER_MS);
    };
    send();
    world.on("changed", changed);
    // The ledger changes without an event.
    const ticking = setInterval(changed, 2_000);
    response.on("close", () => {
      world.off("changed", changed);
      clearInterval(ticking);
      clearTimeout(timer);
    });
  };

  const answer = (response: ServerResponse, type: string, body: string | Buffer, status = 200) => {
    response.writeHead(status, { ...HEADERS, "content-type": type }).end(body);
  };

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? "/", "http://page");
    const route = `${request.method} ${url.pathname}`;
    const json = (body: object) => answer(response, "application/json", JSON.stringify(body));
    if (!isOwn(request, listening)) return answer(response, "text/plain", "Not from here", 403);
    switch (route) {
      case "GET /":
        return answer(response, "text/html; charset=utf-8", readFileSync(file("index.html")));
      case "GET /page.css":
        return answer(response, "text/css", readFileSync(file("page.css")));
      case "GET /page.js":
        if (fresh) script = await bundle();
        return answer(response, "text/javascript", script);
      case "GET /events":
        return stream(url, response);
      case "POST /act": {
        const { user, channel } = placeOf(url);
        return json(await act(place, user, channel, await readJson<Deed>(request)));
      }
      case "POST /turn":
        return json(await turn(place, explorerOf(url), levers, await readJson<Turn>(request)));
      default: {
        const [, id = ""] = /^GET \/files\/(\d+)\//.exec(route) ?? [];
        const found = world.files.get(id);
        if (!found) return answer(response, "text/plain", "There is no such thing", 404);
        return answer(response, found.type, found.body);
      }
    }
  };

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      if (!response.headersSent) answer(response, "application/json", JSON.stringify({ error: message }));
      else response.end();
    });
  });
  const listen = (wanted: number) =>
    new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(wanted, "127.0.0.1", () => {
        server.off("error", reject);
        resolve();
      });
    });
  await listen(port).catch(() => listen(0));
  const listening = (server.address() as AddressInfo).port;

  return {
    url: `http://127.0.0.1:${listening}`,
    runBot: levers.runBot,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
