import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";

/** One way for the explorer to misbehave. */
export type Fault =
  | { readonly kind: "slow"; readonly ms: number }
  | { readonly kind: "status"; readonly status: number; readonly retryAfter?: string }
  | { readonly kind: "body"; readonly body: string; readonly type?: string }
  | { readonly kind: "html" | "empty" | "silence" | "stall" | "reset" | "bomb" | "huge" }
  | { readonly kind: "redirect"; readonly to: string };

/** A fault and the paths below /v1 that it applies to, with the number of times. */
export interface InjectedFault {
  readonly fault: Fault;
  readonly path?: RegExp;
  readonly times?: number;
}

const MEGABYTE = 1024 * 1024;
/** Small as it travels, and large once it is unpacked; made once, since that takes a while. */
let bomb: Buffer | undefined;

/** Misbehaves; true when that was the whole answer, false when the real one follows. */
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
