import type { Option } from "../discord/driver.js";
import { PERMISSION, permissionsIn } from "../discord/permissions.js";
import { listScheduledEvents } from "../discord/scheduled-events.js";
import type { Channel, User, World } from "../discord/world.js";
import { MOTION_WORDS, titleInWords } from "../explorer/actions.js";
import type { Ledger } from "../explorer/ledger.js";
import type { Validator, VoteRequest } from "../explorer/model.js";
import type { SandboxExplorer } from "../explorer/server.js";
import type { Stack } from "../stack.js";
import type { DemoServer } from "./demo-server.js";
import type {
  BotState,
  ExplorerMood,
  ShownCommand,
  ShownRefusal,
  ShownRequest,
  Snapshot,
} from "./snapshot.js";

const MAX_MESSAGES = 60;
const MAX_ROWS = 12;
/** The validator that the README names. */
const EXAMPLE_VALIDATOR = "Birch Custody";

/** Lists subcommands separately, like Discord's own picker. */
function flatten(name: string, { description = "", options = [] }: Option): ShownCommand[] {
  const subcommands = options.filter(({ type }) => type === 1);
  if (subcommands.length === 0) return [{ name, description, options }];
  return subcommands.flatMap((each) => flatten(`${name} ${each.name}`, each));
}

/** Returns the invalid fields of Discord's error, with the reason. */
function faultsIn(node: unknown, path = ""): string[] {
  if (typeof node !== "object" || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) => {
    if (key !== "_errors") return faultsIn(value, path ? `${path}.${key}` : key);
    const errors = Array.isArray(value) ? value : [];
    return errors.map(({ message }: { message?: string }) => `${path}: ${message}`);
  });
}

function refusalsOf({ discord }: Stack): ShownRefusal[] {
  return discord.world.refusals
    .map(({ method, path, status, body }) => {
      const { message, errors } = body as { message?: string; errors?: object };
      const faults = faultsIn(errors);
      const named = path.replace(/\d{15,20}/g, (id) => {
        const channel = discord.world.channels.get(id);
        return channel ? `#${channel.name}` : id;
      });
      return {
        request: `${method} ${named}`,
        status,
        faults: faults.length > 0 ? faults : [String(message)],
      };
    })
    .reverse()
    .slice(0, 20);
}

/** Returns a vote request's title, or its action and the party that it is about if it has none. */
function titleOf({ parties }: Ledger, { title, actionConfig }: VoteRequest): string {
  const words = titleInWords(title);
  const [id] = /[^"]+::1220[0-9a-f]{64}/.exec(JSON.stringify(actionConfig) ?? "") ?? [];
  if (words === title || id === undefined) return words;
  return `${words}: ${parties.find((each) => each.id === id)?.name ?? id.split("::")[0]}`;
}

function requestsOf({ ledger }: SandboxExplorer): ShownRequest[] {
  return ledger.voteRequests.slice(0, MAX_ROWS).map((each) => ({
    id: each.firstContractId,
    title: titleOf(ledger, each),
    status: each.status,
    yes: each.ballots.filter(({ accept }) => accept === true).length,
    no: each.ballots.filter(({ accept }) => accept === false).length,
    voteBefore: each.voteBefore,
  }));
}

const mayWrite = (world: World, channel: Channel): boolean =>
  (permissionsIn(world, channel, world.bot) & PERMISSION.sendMessages) !== 0n;

/** Other data for the page. */
export interface Around {
  readonly bot: BotState;
  /** Explorer of the network whose ledger is shown. */
  readonly explorer: SandboxExplorer;
  readonly mood: ExplorerMood;
  readonly offset: number;
}

/** Creates the snapshot of a channel for a person. */
export function snapshotOf(
  place: Stack,
  demoServer: DemoServer,
  around: Around,
  user: User,
  channel: Channel,
): Snapshot {
  const { discord } = place;
  const { explorer } = around;
  const { world, driver, guild } = discord;
  const named = [
    ...[...world.users.values()].map(
      ({ id, global_name, username }) => [id, global_name ?? username] as const,
    ),
    ...[...world.channels.values()].map(({ id, name }) => [id, name] as const),
    ...guild.roles.map(({ id, name }) => [id, name] as const),
  ];
  // The README's example comes first, then the oldest, so that a validator keeps its place.
  const isExample = ({ party }: Validator) => party.name === EXAMPLE_VALIDATOR;
  const shown = explorer.ledger.validators
    .filter(({ isSv }) => !isSv)
    .sort((a, b) => Number(isExample(b)) - Number(isExample(a)) || a.createdAt - b.createdAt);
  const down = shown.filter(({ active }) => !active).slice(0, MAX_ROWS / 2);
  const up = shown.filter(({ active }) => active).slice(0, MAX_ROWS / 2);
  return {
    now: place.now(),
    bot: around.bot,
    guild: guild.name,
    people: demoServer.people,
    channels: demoServer.channels(user).map(({ id, type, name, parent_id = null }) => ({
      id,
      type,
      name: type === 1 ? "Crier" : name,
      parent_id,
      messages: world.messages.get(id)?.length ?? 0,
      mayWrite: mayWrite(world, world.channel(id)),
    })),
    messages: world.read(channel, user).slice(-MAX_MESSAGES),
    thinking: driver.thinking({ user, channel }).map((each) => each.user.global_name ?? each.user.username),
    commands: driver.commandsFor({ user, channel }).flatMap((each) => flatten(each.name, each)),
    roles: guild.roles.filter(({ id }) => id !== guild.id).map(({ id, name }) => ({ id, name })),
    names: Object.fromEntries(named),
    refusals: refusalsOf(place),
    events: listScheduledEvents(world, guild)
      .map(({ id, name, scheduled_end_time }) => ({ id, name, endsAt: Date.parse(scheduled_end_time) }))
      .sort((a, b) => a.endsAt - b.endsAt)
      .slice(0, MAX_ROWS),
    networks: place.second ? ["MainNet", "TestNet"] : [],
    ledger: {
      price: explorer.ledger.price,
      motions: MOTION_WORDS,
      moves: explorer.ledger.moves,
      requests: requestsOf(explorer),
      reports: explorer.ledger.reports,
      rounds: explorer.ledger.rounds,
      validators: [...down, ...up].map(({ party, active }) => ({
        id: party.id,
        name: party.name ?? party.id.split("::")[0] ?? party.id,
        active,
      })),
      explorer: around.mood,
      offset: around.offset,
    },
  };
}
