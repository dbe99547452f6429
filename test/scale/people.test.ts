import { afterEach, expect, it } from "vitest";
import { WebSocket } from "ws";
import { type Harness, startHarness } from "../harness.js";

const PEOPLE = 300;
const AT_ONCE = 50;

/** Connects to a process's inspector (DevTools protocol). Calls are rejected if the inspector reports an error. */
async function inspect(url: string) {
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  let last = 0;
  const call = (method: string, params: object) =>
    new Promise<{ result: { value?: unknown; objectId?: string }; objects: { objectId: string } }>(
      (resolve, reject) => {
        last += 1;
        const id = last;
        socket.on("message", (text) => {
          const answer = JSON.parse(String(text));
          if (answer.id !== id) return;
          if (answer.result === undefined || answer.result.exceptionDetails) reject(new Error(String(text)));
          else resolve(answer.result);
        });
        socket.send(JSON.stringify({ id, method, params }));
      },
    );
  return { call, close: () => socket.close() };
}

/** Counts the live objects of each class in a process, after a garbage collection. */
async function instancesIn(url: string): Promise<Readonly<Record<string, number>>> {
  const inspector = await inspect(url);
  const { result: root } = await inspector.call("Runtime.evaluate", { expression: "Object.prototype" });
  const { objects } = await inspector.call("Runtime.queryObjects", { prototypeObjectId: root.objectId });
  const { result } = await inspector.call("Runtime.callFunctionOn", {
    objectId: objects.objectId,
    functionDeclaration: `function () {
      const counts = {};
      for (const each of this) {
        const made = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(each) ?? {}, "constructor")?.value;
        if (typeof made === "function") counts[made.name] = (counts[made.name] ?? 0) + 1;
      }
      return counts;
    }`,
    returnByValue: true,
  });
  inspector.close();
  return result.value as Record<string, number>;
}

let harness: Harness;
afterEach(() => harness.close());

it("keeps no objects for people and servers that use commands", async () => {
  harness = await startHarness({ env: () => ({ NODE_OPTIONS: "--inspect=127.0.0.1:0" }) });
  const { world, driver, channels, guild } = harness.discord;
  const people = Array.from({ length: PEOPLE }, (_, at) => world.addUser(`Person ${at}`));
  for (const { id } of people) guild.members.set(id, []);
  // This many are answered in time even if the machine is busy with other tests.
  for (let at = 0; at < people.length; at += AT_ONCE)
    await Promise.all(
      people
        .slice(at, at + AT_ONCE)
        .map((user) => driver.ask({ user, channel: channels.general }, "/network")),
    );
  const [url = ""] = /ws:\S+/.exec(harness.bot().output()) ?? [];
  const kept = async () => {
    const alive = await instancesIn(url);
    expect(alive.ClientUser).toBe(1);
    return ["User", "GuildMember", "Guild", "Message"].filter((name) => (alive[name] ?? 0) >= 10);
  };
  // The bot's own objects stay. Those of the latest interactions stay until they are over.
  await expect.poll(kept, { interval: 500 }).toEqual([]);
});
