import { getEventListeners } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { ExplorerError } from "../../src/explorer/errors.js";
import { createHttp } from "../../src/explorer/http.js";
import { unlessAborted, withDeadline, withTimeout } from "../../src/util/timeouts.js";

it.each([
  ["never answered", () => {}],
  ["never answered completely", (response: ServerResponse) => response.write("[")],
])("ends a request that is %s, even if the garbage collector runs meanwhile", async (_, answer) => {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  const server = createServer((_request, response) => void answer(response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const get = createHttp({ apiUrl: `http://127.0.0.1:${port}/v1`, apiKey: "key" });
  const never = new AbortController().signal;
  const collecting = setInterval(collect, 20);
  const ends = Array.from({ length: 20 }, () =>
    withDeadline(600, never, (signal) => get("dashboard", {}, signal)).then(
      () => "answered",
      (error: unknown) => (error instanceof ExplorerError ? error.problem : error),
    ),
  );
  expect(new Set(await Promise.all(ends))).toEqual(new Set(["slow"]));
  clearInterval(collecting);
  server.closeAllConnections();
  server.close();
});

it("aborts the work if the other signal aborts before or during it", async () => {
  const other = new AbortController();
  const work = (signal: AbortSignal) =>
    new Promise<string>((resolve) => {
      if (signal.aborted) resolve("aborted");
      signal.addEventListener("abort", () => resolve("aborted"));
    });
  const first = withDeadline(60_000, other.signal, work);
  other.abort();
  expect(await first).toBe("aborted");
  expect(await withDeadline(60_000, other.signal, work)).toBe("aborted");
});

it("does not abort work without a deadline", async () => {
  const first = withDeadline(Number.POSITIVE_INFINITY, undefined, async (signal) => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    return signal.aborted;
  });
  expect(await first).toBe(false);
  const later = new Promise<string>((resolve) => setTimeout(resolve, 20, "in time"));
  expect(await withTimeout(later, Number.POSITIVE_INFINITY, () => "late")).toBe("in time");
});

it("does not wait for work after its signal is aborted, and leaves no listener behind", async () => {
  const stopping = new AbortController();
  const { signal } = stopping;
  const count = () => getEventListeners(signal, "abort").length;
  expect(await unlessAborted(Promise.resolve("done"), signal)).toBe("done");
  await expect(unlessAborted(Promise.reject(new Error("failed")), signal)).rejects.toThrow("failed");
  await new Promise(setImmediate);
  expect(count()).toBe(0);
  const hanging = new Promise<string>(() => {});
  let fail = (_: Error) => {};
  const failing = new Promise<string>((_, reject) => {
    fail = reject;
  });
  const both = Promise.all([unlessAborted(hanging, signal), unlessAborted(failing, signal)]);
  expect(count()).toBe(2);
  stopping.abort();
  expect(await both).toEqual([undefined, undefined]);
  expect(await unlessAborted(hanging, signal)).toBeUndefined();
  // A later failure has no effect.
  fail(new Error("too late"));
  await new Promise(setImmediate);
});

it("causes no listener leak warning if many calls share one signal", async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => void warnings.push(warning);
  process.on("warning", note);
  const other = new AbortController();
  const aborted = (signal: AbortSignal) =>
    new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  const all = Array.from({ length: 100 }, () => withDeadline(60_000, other.signal, aborted));
  other.abort();
  await Promise.all(all);
  await new Promise(setImmediate);
  process.off("warning", note);
  expect(warnings).toEqual([]);
});
