import type { IncomingMessage, ServerResponse } from "node:http";
import findMyWay, { type HTTPMethod } from "find-my-way";
import { DiscordError, unauthorized } from "./errors.js";
import type { Upload } from "./messages.js";
import { type Answer, createRoutes, type RouteParts } from "./routes.js";

/** A fault for the next matching requests. */
export interface Trap {
  readonly method: string;
  readonly path: RegExp;
  times: number;
  /**
   * Error to answer with. "reset" drops the connection at once, and "html" is a proxy's page. "lost" handles the request and closes
   * the connection before the answer, "lost-reset" resets it, and "lost-html" answers with a proxy's page. Missing if the request is
   * only delayed.
   */
  readonly error?: DiscordError | "reset" | "html" | "lost" | "lost-reset" | "lost-html";
  readonly delayMs?: number;
}

interface Parts extends RouteParts {
  readonly token: string;
  readonly traps: Trap[];
  /** Called for each request, so that tests can count them. */
  readonly onRequest: (method: string, path: string) => void;
}

async function readBody(request: IncomingMessage): Promise<{ body: unknown; uploads: Upload[] }> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const raw = Buffer.concat(chunks);
  const type = request.headers["content-type"] ?? "";
  if (!type.startsWith("multipart/"))
    return { body: raw.length ? JSON.parse(raw.toString("utf8")) : {}, uploads: [] };
  const form = await new Response(raw, { headers: { "content-type": type } }).formData();
  const uploads: Upload[] = [];
  for (const [, value] of form) {
    if (typeof value === "string") continue;
    uploads.push({ name: value.name, type: value.type, body: Buffer.from(await value.arrayBuffer()) });
  }
  return { body: JSON.parse(String(form.get("payload_json") ?? "{}")), uploads };
}

/** Creates the part of Discord's REST API that the bot needs. */
export function createRest(parts: Parts) {
  const { world, token, traps, limits } = parts;
  const router = findMyWay({ maxParamLength: 500, ignoreTrailingSlash: true });

  /** Answers with a proxy's page. */
  const sendPage = (response: ServerResponse): void => {
    response.writeHead(502, { "content-type": "text/html" });
    response.end("<html><h1>502 Bad Gateway</h1></html>");
  };
  const send = (
    response: ServerResponse,
    status: number,
    body: Answer,
    headers: Record<string, string> = {},
  ) => {
    const date = new Date(world.now()).toUTCString();
    if (body === undefined) response.writeHead(204, { date, ...headers }).end();
    else
      response
        .writeHead(status, { "content-type": "application/json", date, ...headers })
        .end(JSON.stringify(body));
  };

  /** Returns a matching trap and decrements its remaining uses. */
  const trapFor = (method: string, path: string): Trap | undefined => {
    const trap = traps.find((each) => each.times > 0 && each.method === method && each.path.test(path));
    if (trap) trap.times -= 1;
    return trap;
  };

  for (const [route, work] of Object.entries(createRoutes(parts))) {
    const [method = "", pattern = ""] = route.split(" ");
    router.on(method as HTTPMethod, `/api/v10${pattern}`, (raw, reply, parameters, _, query) => {
      const request = raw as IncomingMessage;
      const response = reply as ServerResponse;
      const path = (request.url ?? "").replace("/api/v10", "").replace(/\?.*/, "");
      parts.onRequest(method, path);
      const run = async () => {
        const needsToken = !/^\/(interactions|webhooks)\//.test(path);
        if (needsToken && request.headers.authorization !== `Bot ${token}`) throw unauthorized();
        const { body, uploads } = await readBody(request);
        const trap = trapFor(method, path);
        if (trap?.delayMs) await new Promise((resolve) => setTimeout(resolve, trap.delayMs));
        if (trap?.error instanceof DiscordError) throw trap.error;
        if (trap?.error === "reset") return void response.destroy();
        if (trap?.error === "html") return sendPage(response);
        const headers = limits.take(method, path);
        const answer = work({ parameters, query: query as Record<string, string>, body, uploads });
        if (trap?.error === "lost") return void response.destroy();
        if (trap?.error === "lost-reset") return void response.socket?.resetAndDestroy();
        if (trap?.error === "lost-html") return sendPage(response);
        send(response, 200, answer, headers);
      };
      run().catch((error: unknown) => {
        if (!(error instanceof DiscordError)) {
          console.error(error);
          send(response, 500, { message: String(error), code: 0 });
          return;
        }
        if (error.status !== 429 && error.status !== 404 && error.status !== 401) {
          world.refusals.push({ method, path, status: error.status, body: error.body });
          world.changed();
        }
        send(response, error.status, error.body, limits.headersOf(error));
      });
    });
  }
  router.on("GET", "/files/:id/:name", (_, response, { id }) => {
    const file = world.files.get(id ?? "");
    response.writeHead(file ? 200 : 404, { "content-type": file?.type ?? "text/plain" });
    response.end(file?.body);
  });
  return router;
}
