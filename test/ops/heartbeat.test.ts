import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createHeartbeat } from "../../src/heartbeat.js";
import type { Lease } from "../../src/storage/lease.js";
import { StateError } from "../../src/storage/store.js";
import { newState, quiet } from "../harness.js";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** Starts a monitor, and a heartbeat that calls it. */
async function startBeating(answer: RequestListener, stalled: () => readonly string[] = () => []) {
  let asked = 0;
  let looked = 0;
  const server = createServer((request, response) => {
    asked += 1;
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const logged: string[] = [];
  const note = (details: object, message: string) =>
    void logged.push(`${message} ${JSON.stringify(details)}`);
  const heartbeat = createHeartbeat({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret-path`,
    stalled: async () => {
      looked += 1;
      return stalled();
    },
    log: { ...quiet, warn: note, error: note },
  });
  const lease: Lease = { epoch: 1, validUntil: () => Number.POSITIVE_INFINITY };
  await heartbeat.start(newState(), lease);
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { heartbeat, logged, asked: () => asked, looked: () => looked };
}

describe("the heartbeat", () => {
  it("calls the monitor at once while the work is running", async () => {
    const { heartbeat, asked, logged } = await startBeating((_, response) => void response.end("OK"));
    await expect.poll(asked).toBe(1);
    await heartbeat.stop();
    expect(logged).toEqual([]);
  });

  it("does not call the monitor while the work is stalled", async () => {
    const { heartbeat, asked, looked } = await startBeating(
      (_, response) => void response.end("OK"),
      () => ["votes"],
    );
    await expect.poll(looked).toBe(1);
    await heartbeat.stop();
    expect(asked()).toBe(0);
  });

  it("treats a state that cannot be read as a stall, and not as an unexpected error", async () => {
    const { heartbeat, asked, looked, logged } = await startBeating(
      (_, response) => void response.end("OK"),
      () => {
        throw new StateError("Redis does not answer in time");
      },
    );
    await expect.poll(looked).toBe(1);
    await heartbeat.stop();
    expect(asked()).toBe(0);
    expect(logged).toEqual([]);
  });

  it.each<[string, RequestListener]>([
    [
      "asks for a pause of an hour",
      (_, response) => void response.writeHead(429, { "retry-after": "3600" }).end(),
    ],
    ["never answers", () => {}],
    ["never finishes its answer", (_, response) => void response.writeHead(200).write("O")],
  ])("can be stopped at once if the monitor %s", { timeout: 8_000 }, async (_, answer) => {
    const { heartbeat, asked } = await startBeating(answer);
    await expect.poll(asked).toBe(1);
    // Waiting for the monitor would take ten seconds or an hour.
    await heartbeat.stop();
    expect(asked()).toBe(1);
  });

  it("logs once that the monitor cannot be called, without its address", async () => {
    const { heartbeat, logged } = await startBeating((_, response) => void response.writeHead(404).end());
    await expect.poll(() => logged.length).toBe(1);
    await heartbeat.stop();
    expect(logged).toEqual([
      'HEARTBEAT_URL cannot be called; retrying each minute {"reason":"it answered 404"}',
    ]);
  });
});
