import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Metrics } from "./metrics.js";

/** Returns the reasons why the bot is not ready; empty if it is. */
export type Unready = () => Promise<readonly string[]>;

/** HTTP server for health checks and metrics. */
export interface HealthServer {
  readonly port: number;
  close(): void;
}

interface HealthOptions {
  readonly port: number;
  /** Address that it listens on. */
  readonly host: string;
  readonly metrics: Metrics;
  readonly unready: Unready;
}

/**
 * Serves /livez (the process answers), /readyz (503 with the reasons while it cannot work) and /metrics (Prometheus). It exposes
 * no secrets and changes nothing.
 */
export async function serveHealth({ port, host, metrics, unready }: HealthOptions): Promise<HealthServer> {
  const server = createServer((request, response) => {
    const answer = (status: number, body: string, type = "text/plain; charset=utf-8") =>
      response.writeHead(status, { "content-type": type, "cache-control": "no-store" }).end(body);
    const handle = async () => {
      if (request.method !== "GET" && request.method !== "HEAD") return answer(405, "GET only\n");
      switch (request.url?.split("?")[0]) {
        case "/livez":
          return answer(200, "alive\n");
        case "/readyz": {
          const missingReasons = await unready();
          return missingReasons.length === 0
            ? answer(200, "ready\n")
            : answer(503, `${missingReasons.join("\n")}\n`);
        }
        case "/metrics":
          return answer(200, (await metrics.registry?.metrics()) ?? "", metrics.registry?.contentType);
        default:
          return answer(404, "Not found. Use /livez, /readyz or /metrics\n");
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
