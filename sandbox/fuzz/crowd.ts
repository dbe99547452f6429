import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SandboxDiscord } from "../discord/server.js";
import type { Channel } from "../discord/world.js";
import type { Ledger } from "../explorer/ledger.js";
import { readState, runTool } from "./surroundings.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Time without a report after which the crowd is alerted, in ms. */
const AFTER_MS = 45 * MINUTE_MS;
/** Numbers of people and channels that subscribe to validators before the bot starts, many to each validator. */
const SIZE = { people: 1_500, channels: 3_000 } as const;
/** Time for which a third of the validators is silent, and after which they are back, in ms. */
const SILENT_MS = 4 * HOUR_MS;
/** Maximum time until a third of the crowd has been told something, in ms. Discord allows fifty messages a second. */
const TOLD_MS = 2 * MINUTE_MS;
/** Number of people who open their list of watches at the same moment. */
const TOGETHER = 50;

/** A large community whose alerts change together. */
export interface Crowd {
  /**
   * Imports its subscriptions into an empty folder.
   * @returns the output if the import failed
   */
  import(env: Record<string, string>): string | undefined;
  /** Lets the validators report, except for a third of them now and then. */
  report(passedMs: number): void;
  /**
   * Sends and ends a third of all alerts together while many open their lists, and puts all alerts on hold.
   * @returns a description if alerts were not sent or not ended in time
   */
  surge(pass: (ms: number) => Promise<void>): Promise<string | undefined>;
}

/** Creates the crowd's people and channels. */
export function createCrowd(
  { world, guild, channels, driver, requests }: SandboxDiscord,
  ledger: Ledger,
): Crowd {
  const watchers = Array.from({ length: SIZE.people }, (_, at) => world.addUser(`Watcher ${at}`));
  const places = [
    ...watchers.map((user) => ({ ...world.directChannel(user), userId: user.id })),
    ...Array.from({ length: SIZE.channels }, (_, at) => ({
      ...world.addChannel({ type: 0, guild_id: guild.id, name: `crowd-${at}` }),
      userId: null,
    })),
  ];
  const validators = [...ledger.validators];
  const subjectOf = (place: number) => validators[place % validators.length];
  const silent = validators.slice(0, Math.floor(validators.length / 3));
  const isAlerted = (place: number) => silent.some((each) => each === subjectOf(place));
  const alerted = places.filter((_, at) => isAlerted(at));
  const others = places.filter((_, at) => !isAlerted(at));
  const reportExcept = (quiet: readonly unknown[]) => {
    for (const each of validators) if (!quiet.includes(each)) ledger.setValidatorActive(each, true);
  };
  return {
    import(env) {
      const samples = Object.entries(readState().collections.subscriptions ?? {});
      const [, sample] = samples.find(([id]) => id.startsWith("validator/")) ?? [];
      if (typeof sample !== "object") return "The exported state has no subscription to a validator";
      const subscriptions = places.map(({ id, userId }, at) => {
        const subject = subjectOf(at)?.party.id ?? "";
        const guildId = userId === null ? guild.id : null;
        const settings = { channelId: id, subject, userId, guildId, after: AFTER_MS };
        return [`validator/${id}/${subject}`, { ...sample, ...settings }];
      });
      const file = join(env.DATA_DIR ?? "", "crowd.json");
      const collections = { subscriptions: Object.fromEntries(subscriptions) };
      writeFileSync(file, JSON.stringify({ crier: 1, collections }));
      const { status, stderr } = runTool(env, "import", file);
      return status === 0 ? undefined : `The import of a crowd failed: ${stderr.slice(0, 1_000)}`;
    },
    report: (passedMs) => reportExcept(Math.floor(passedMs / SILENT_MS) % 2 === 0 ? [] : silent),
    async surge(pass) {
      const lists = () => {
        for (const user of watchers.slice(0, TOGETHER))
          driver.type({ user, channel: channels.general }, "/watch list");
      };
      const hasNews = (place: Channel) => world.read(place).length > 0;
      const edits = () => requests.filter(({ method }) => method === "PATCH").length;
      const within = (isOver: () => boolean, what: string) => world.until(isOver, what, TOLD_MS);
      try {
        await pass(2 * HOUR_MS);
        reportExcept(silent);
        lists();
        await within(() => alerted.every(hasNews), `${alerted.length} alerts`);
        const before = edits();
        await pass(10 * MINUTE_MS);
        reportExcept([]);
        lists();
        await within(() => edits() - before >= alerted.length, `${alerted.length} edits`);
        // Nobody reports, so the explorer is behind, and every channel hears that its alerts are on hold.
        await pass(3 * HOUR_MS);
        lists();
        // The validators are read several times meanwhile, with a hold for each channel.
        const onHold = Math.ceil(others.length / 5);
        await within(() => others.filter(hasNews).length >= onHold, `${onHold} alerts on hold`);
      } catch (error) {
        return `A crowd: ${error instanceof Error ? error.message : error}`;
      }
      return undefined;
    },
  };
}
