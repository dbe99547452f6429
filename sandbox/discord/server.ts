import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Driver } from "./driver.js";
import { Gateway } from "./gateway.js";
import type { Interaction } from "./interactions.js";
import { USUAL } from "./permissions.js";
import { RateLimits } from "./rate-limits.js";
import { createRest, type Trap } from "./rest.js";
import { type Channel, type Guild, type User, World } from "./world.js";

export interface SandboxDiscordOptions {
  readonly token?: string;
  readonly now?: () => number;
}

/**
 * A simulated Discord on this machine: a server with a few people and channels, the REST API, the gateway,
 * and a driver.
 */
export interface SandboxDiscord {
  /** URL for DISCORD_API_URL, without a version. */
  readonly url: string;
  readonly token: string;
  readonly world: World;
  readonly gateway: Gateway;
  readonly driver: Driver;
  readonly limits: RateLimits;
  readonly guild: Guild;
  readonly channels: { readonly general: Channel; readonly governance: Channel };
  readonly people: { readonly owner: User; readonly ana: User; readonly ben: User };
  /** All requests so far. */
  readonly requests: { method: string; path: string }[];
  /** Adds a fault for matching requests. */
  trap(trap: Trap): void;
  close(): Promise<void>;
}

/** Starts the sandbox on a free port of this machine. */
export async function startSandboxDiscord(options: SandboxDiscordOptions = {}): Promise<SandboxDiscord> {
  const { token = "sandbox.discord.token", now = Date.now } = options;
  const world = new World(now);
  const owner = world.addUser("Olga");
  const ana = world.addUser("Ana");
  const ben = world.addUser("Ben");
  const guild = world.addGuild("Ledger Community", owner, USUAL);
  for (const user of [world.bot, ana, ben]) guild.members.set(user.id, []);
  const general = world.addChannel({ type: 0, guild_id: guild.id, name: "general" });
  const governance = world.addChannel({ type: 0, guild_id: guild.id, name: "governance" });

  const interactions = new Map<string, Interaction>();
  const requests: SandboxDiscord["requests"] = [];
  const traps: Trap[] = [];
  const limits = new RateLimits();
  const gateway = new Gateway(world, token);
  const router = createRest({
    world,
    gateway,
    interactions,
    token,
    traps,
    limits,
    onRequest: (method, path) => requests.push({ method, path }),
  });
  const server = createServer((request, response) => router.lookup(request, response));
  // As long as Discord's. On a busy machine, a client often sends into a connection that closes after five seconds.
  server.keepAliveTimeout = 60_000;
  server.on("upgrade", (request, socket, head) => gateway.upgrade(request, socket, head));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  gateway.url = `ws://127.0.0.1:${port}`;

  return {
    url: `${url}/api`,
    token,
    world,
    gateway,
    driver: new Driver(world, gateway, interactions),
    limits,
    guild,
    channels: { general, governance },
    people: { owner, ana, ben },
    requests,
    trap: (trap) => traps.push(trap),
    async close() {
      gateway.close();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
