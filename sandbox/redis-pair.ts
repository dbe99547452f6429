import { connect, createServer, type Socket } from "node:net";
import { type RedisProcess, startRedis } from "./redis-process.js";

/** An address that can lead to another Redis, like DNS or a service. Open connections stay where they are. */
interface RedisAddress {
  readonly url: string;
  leadTo(next: Pick<RedisProcess, "port">): void;
  close(): void;
}

/** Opens an address that leads to a Redis. */
export async function openRedisAddress(target: Pick<RedisProcess, "port">): Promise<RedisAddress> {
  let { port } = target;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const upstream = connect(port, "127.0.0.1");
    for (const each of [socket, upstream]) {
      sockets.add(each);
      each.on("error", () => {});
      each.on("close", () => {
        sockets.delete(each);
        socket.destroy();
        upstream.destroy();
      });
    }
    socket.pipe(upstream).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("No port");
  return {
    url: `redis://127.0.0.1:${address.port}`,
    leadTo(next) {
      port = next.port;
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Two Redis servers behind one address, which leads to the primary. */
export interface RedisPair
  extends Pick<RedisProcess, "url" | "kill" | "freeze" | "thaw" | "start" | "close"> {
  /** Makes the other one the primary, without losing a write. The old one lives on as its replica. */
  failOver(): Promise<void>;
}

/** Starts two Redis servers. `kill`, `freeze`, `thaw` and `start` act on the primary. */
export async function startRedisPair(): Promise<RedisPair> {
  let [primary, spare] = [await startRedis(), await startRedis()];
  const address = await openRedisAddress(primary);
  return {
    url: address.url,
    kill: () => primary.kill(),
    freeze: () => primary.freeze(),
    thaw: () => primary.thaw(),
    start: () => primary.start(),
    async failOver() {
      await spare.replicate(primary);
      await primary.handOver(spare);
      [primary, spare] = [spare, primary];
      address.leadTo(primary);
    },
    async close() {
      address.close();
      await Promise.all([primary.close(), spare.close()]);
    },
  };
}
