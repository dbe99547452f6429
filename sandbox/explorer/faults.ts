import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";

/** A fault of the explorer. */
export type Fault =
  | { readonly kind: "slow"; readonly ms: number }
  | { readonly kind: "status"; readonly status: number; readonly retryAfter?: string }
  | { readonly kind: "body"; readonly body: string; readonly type?: string }
  | { readonly kind: "html" | "empty" | "silence" | "stall" | "reset" | "bomb" | "huge" }
  | { readonly kind: "redirect"; readonly to: string };

/** A fault with the paths below /v1 that it applies to, and the number of times. */
export interface InjectedFault {
  readonly fault: Fault;
  readonly path?: RegExp;
  readonly times?: number;
}

const MEGABYTE = 1024 * 1024;
/** A small compressed body that unpacks to a large one. It is cached, because creating it takes a while. */
let bomb: Buffer | undefined;

/** Simulates a fault. Returns true if it has answered the request, false if the real answer follows. */
export async function misbehave(fault: Fault, response: ServerResponse): Promise<boolean> {
  switch (fault.kind) {
    case "slow":
      await delay(fault.ms, undefined, { ref: false });
      return false;
    case "status":
      response.writeHead(
        fault.status,
        fault.retryAfter === undefined ? {} : { "retry-after": fault.retryAfter },
      );
      response.end("no");
      return true;
    case "body":
      response.writeHead(200, { "content-type": fault.type ?? "application/json" }).end(fault.body);
      return true;
    case "html":
      response.writeHead(200, { "content-type": "text/html" }).end("<html><body>Maintenance</body></html>");
      return true;
    case "empty":
      response.writeHead(200).end();
      return true;
    case "silence":
      return true;
    case "stall":
      response.writeHead(200, { "content-type": "application/json" }).write('{"content":[');
      return true;
    case "reset":
      response.destroy();
      return true;
    case "redirect":
      response.writeHead(302, { location: fault.to }).end();
      return true;
    case "bomb":
      bomb ??= gzipSync(Buffer.alloc(40 * MEGABYTE, " "));
      response.writeHead(200, { "content-encoding": "gzip" }).end(bomb);
      return true;
    case "huge":
      response.writeHead(200, { "content-type": "application/json" }).end(`"${"x".repeat(11 * MEGABYTE)}"`);
      return true;
  }
}
