import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Metrics } from "./metrics.js";

/** What is not ready, in words; empty where all is. */
export type Unready = () => Promise<readonly string[]>;

/** The operator's way in. */
export interface Health {
  readonly port: number;
  close(): void;
}

interface Options {
  readonly port: number;
  /** The address it listens on. */
  readonly host: string;
  readonly metrics: Metrics;
  readonly unready: Unready;
}

/**
 * Serves /livez (the process answers), /readyz (it can do its work; else 503 with what is missing) and /metrics
 * (Prometheus). Nothing here is secret, and nothing can be changed.
 */
export async function serveHealth({ port, host, metrics, unready }: Options): Promise<Health> {
  const server = createServer((request, response) => {
    const answer = (status: number, body: string, type = "text/plain; charset=utf-8") =>
      response.writeHead(status, { "content-type": type, "cache-control": "no-store" }).end(body);
    const handle = async () => {
      if (request.method !== "GET" && request.method !== "HEAD") return answer(405, "GET only\n");
      switch (request.url?.split("?")[0]) {
        case "/livez":
          return answer(200, "alive\n");
        case "/readyz": {
          const missing = await unready();
          return missing.length === 0 ? answer(200, "ready\n") : answer(503, `${missing.join("\n")}\n`);
        }
        case "/metrics":
          return answer(200, (await metrics.registry?.metrics()) ?? "", metrics.registry?.contentType);
        default:
          return answer(404, "There is /livez, /readyz and /metrics\n");
      }
    };
    handle().catch(() => answer(500, "failed\n"));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
