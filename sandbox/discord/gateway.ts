import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import type { World } from "./world.js";

const OP = {
  dispatch: 0,
  heartbeat: 1,
  identify: 2,
  resume: 6,
  reconnect: 7,
  invalidSession: 9,
  hello: 10,
  ack: 11,
} as const;

/** Number of concurrent identifies. Discord's default for bots of this size is 1, and more for large ones. */
export const MAX_CONCURRENCY = 16;

interface Session {
  readonly id: string;
  readonly shard: readonly [id: number, count: number];
  socket: WebSocket | undefined;
  sequence: number;
  /** Sent events, to repeat them after a resume. */
  readonly sent: { s: number; text: string }[];
  readonly identifiedAt: number;
}

interface Packet {
  readonly op: number;
  readonly d: {
    readonly token?: string;
    readonly shard?: readonly [number, number];
    readonly session_id?: string;
    readonly seq?: number;
  };
}

/** The gateway: handles identify, heartbeat and resume, and sends events to the right shard. */
export class Gateway {
  readonly sessions = new Map<string, Session>();
  identifies = 0;
  /** True to refuse connections. */
  refuse = false;
  /** Code with which it closes every connection that identifies, if set. */
  closeWith: number | undefined;
  /**
   * Number of identifies that came too soon after another in their bucket. Discord invalidates their
   * sessions.
   */
  tooSoon = 0;
  /** Time for which an identify occupies its bucket, in ms. 0 disables the limit. */
  identifyMs = 0;
  readonly #identifiedAt = new Map<number, number>();
  resumes = 0;
  readonly #server = new WebSocketServer({ noServer: true });
  readonly #world: World;
  readonly #token: string;
  url = "";

  constructor(world: World, token: string) {
    this.#world = world;
    this.#token = token;
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (this.refuse) {
      socket.destroy();
      return;
    }
    this.#server.handleUpgrade(request, socket, head, (client) => this.#greet(client));
  }

  /** Sends an event to the newest session of a server's shard. Events without a server go to shard 0. */
  dispatch(event: string, data: unknown, guildId?: string): boolean {
    const sessions = [...this.sessions.values()].filter(
      ({ shard: [id, count] }) => id === this.shardOf(guildId, count),
    );
    const live = sessions.filter((session) => session.socket);
    for (const session of sessions) this.#send(session, event, data);
    return live.length > 0;
  }

  shardOf(guildId: string | undefined, count: number): number {
    return guildId === undefined ? 0 : Number((BigInt(guildId) >> 22n) % BigInt(count));
  }

  /** Terminates every connection, like a network failure. */
  drop(): void {
    for (const client of this.#server.clients) client.terminate();
  }

  /** Closes every connection with one of Discord's codes. */
  end(code: number): void {
    for (const client of this.#server.clients) client.close(code);
  }

  close(): void {
    for (const client of this.#server.clients) client.terminate();
    this.#server.close();
  }

  #send(session: Session, event: string, data: unknown): void {
    session.sequence += 1;
    const text = JSON.stringify({ op: OP.dispatch, t: event, s: session.sequence, d: data });
    session.sent.push({ s: session.sequence, text });
    if (session.sent.length > 1_000) session.sent.shift();
    session.socket?.send(text);
  }

  #greet(client: WebSocket): void {
    const send = (op: number, d: unknown) => client.send(JSON.stringify({ op, d }));
    let session: Session | undefined;
    send(OP.hello, { heartbeat_interval: 41_250 });
    client.on("message", (raw) => {
      const { op, d } = JSON.parse(String(raw)) as Packet;
      if (op === OP.heartbeat) send(OP.ack, null);
      if (op === OP.identify) session = this.#identify(client, d);
      if (op === OP.resume) session = this.#resume(client, d, () => send(OP.invalidSession, false));
    });
    client.on("close", (code) => {
      if (session?.socket === client) session.socket = undefined;
      // Discord: closing with 1000 or 1001 ends the session.
      if (session && (code === 1000 || code === 1001)) this.sessions.delete(session.id);
      this.#world.changed();
    });
  }

  #identify(client: WebSocket, d: Packet["d"]): Session | undefined {
    this.identifies += 1;
    if (d.token !== this.#token) {
      client.close(4_004, "Authentication failed.");
      return undefined;
    }
    if (this.closeWith !== undefined) {
      client.close(this.closeWith);
      return undefined;
    }
    const shard = d.shard ?? ([0, 1] as const);
    const bucket = shard[0] % MAX_CONCURRENCY;
    const before = this.#identifiedAt.get(bucket) ?? Number.NEGATIVE_INFINITY;
    this.#identifiedAt.set(bucket, Date.now());
    if (Date.now() - before < this.identifyMs) {
      this.tooSoon += 1;
      client.send(JSON.stringify({ op: OP.invalidSession, d: false }));
      return undefined;
    }
    const session: Session = {
      id: this.#world.snowflake(),
      shard,
      socket: client,
      sequence: 0,
      sent: [],
      identifiedAt: Date.now(),
    };
    this.sessions.set(session.id, session);
    const guilds = [...this.#world.guilds.keys()].filter((id) => this.shardOf(id, shard[1]) === shard[0]);
    this.#send(session, "READY", {
      v: 10,
      user: { ...this.#world.bot, verified: true, mfa_enabled: false, email: null, flags: 0 },
      guilds: guilds.map((id) => ({ id, unavailable: true })),
      session_id: session.id,
      resume_gateway_url: this.url,
      shard,
      application: { id: this.#world.bot.id, flags: 0 },
    });
    this.#world.changed();
    return session;
  }

  #resume(client: WebSocket, d: Packet["d"], refuse: () => void): Session | undefined {
    const session = this.sessions.get(d.session_id ?? "");
    if (!session || d.token !== this.#token) {
      refuse();
      return undefined;
    }
    this.resumes += 1;
    session.socket = client;
    for (const { s, text } of session.sent) if (s > (d.seq ?? 0)) client.send(text);
    this.#send(session, "RESUMED", {});
    this.#world.changed();
    return session;
  }
}
