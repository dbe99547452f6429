import { PERMISSION } from "../sandbox/discord/permissions.js";
import type { Channel, Guild, User, World } from "../sandbox/discord/world.js";
import type { Party } from "../sandbox/explorer/model.js";
import type { Write } from "../src/storage/store.js";

/** The representatives of super validators, as `/voters set` would store them. */
export interface MappedVoters {
  /** Mentions of people and roles to ping, by super validator name. */
  readonly mapped: ReadonlyMap<string, string>;
  /** Mention of a mapped role that the person who mapped it may ping in another channel only. */
  readonly unpingable: string;
  readonly writes: readonly Write[];
}

interface VotersOptions {
  readonly discord: World;
  readonly guild: Guild;
  /** People who map roles, with the only channel in which they may ping them. */
  readonly pinging: { readonly setBy: User; readonly where: Channel };
  readonly elsewhere: { readonly setBy: User; readonly where: Channel };
  readonly setAt: number;
}

/**
 * Maps super validators of a server: people for all but the last two, and a role for each of those. The first role's mapper may
 * ping it in the channel that reminds of missing votes, the second role's mapper only elsewhere.
 */
export function mapVoters(
  superValidators: readonly Party[],
  { discord, guild, pinging, elsewhere, setAt }: VotersOptions,
): MappedVoters {
  const writes: Write[] = [];
  const mapped = new Map<string, string>();
  const map = ({ name, id: party }: Party, kind: "member" | "role", id: string, setBy: string) => {
    const who = { kind, id };
    const representative = { guildId: guild.id, name, aliases: [party, name], who, setBy, setAt };
    const text = JSON.stringify(representative);
    writes.push({ op: "put", collection: "voters", id: `${guild.id}/${name}`, text });
  };
  for (const each of superValidators.slice(0, -2)) {
    const { id } = discord.addUser(`Voter for ${each.name}`);
    map(each, "member", id, guild.owner_id);
    mapped.set(each.name ?? "", `<@${id}>`);
  }
  const [first, second] = superValidators.slice(-2).map((each, index) => {
    const { setBy, where } = index === 0 ? pinging : elsewhere;
    const { id } = discord.addRole(guild, `Voters for ${each.name}`, 0n);
    const allow = String(PERMISSION.mentionEveryone);
    where.permission_overwrites.push({ id: setBy.id, type: 1, allow, deny: "0" });
    map(each, "role", id, setBy.id);
    return { name: each.name ?? "", mention: `<@&${id}>` };
  });
  if (!first || !second) throw new RangeError("There are fewer than two super validators");
  mapped.set(first.name, first.mention);
  return { mapped, unpingable: second.mention, writes };
}
