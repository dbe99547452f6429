import type { SlashCommandSubcommandBuilder } from "@discordjs/builders";
import type { ChatInputCommandInteraction } from "discord.js";
import type { Subscription } from "../../delivery/collections.js";
import { commitWithin, ownerOf } from "../../delivery/limits.js";
import type { FeedServices } from "../../delivery/module.js";
import { NO_SERVER } from "../../delivery/subscriptions.js";
import { isLoading } from "../../directory/directory.js";
import { canView, checkMember, checkPingable, isPingable } from "../../discord/access.js";
import { matchingChoices } from "../../discord/autocomplete.js";
import { type ActingCommand, commandForManagers, OTHER_VERSION } from "../../discord/command.js";
import type { MessagePayload } from "../../discord/message.js";
import { readThing } from "../../discord/named-things.js";
import { goneRoles, guildOf, readerOf, readingOnce, visiblePlace } from "../../discord/places.js";
import { say, serverOf } from "../../discord/say.js";
import { isSameVoter } from "../../ledger/votes.js";
import { channelMention, join, type Markdown, md, roleMention, userMention } from "../../text/markdown.js";
import { cut } from "../../text/plain.js";
import { PersonError } from "../../util/person-error.js";
import { present } from "../../util/present.js";
import { type Representative, representativeId, representatives, representativesIn } from "./collections.js";
import { definition as governance, noLongerVoter } from "./definition.js";
import { pingsMissing } from "./topics.js";

/** Maximum number of super validators with representatives in a server. */
export const MAX_MAPPED = 40;

const SV = "sv";
const WHO = "who";

const withVoter = (builder: SlashCommandSubcommandBuilder, description: string) =>
  builder.addStringOption((option) =>
    option.setName(SV).setDescription(description).setRequired(true).setMaxLength(600).setAutocomplete(true),
  );

const definition = commandForManagers("voters", "Representatives of super validators in this server")
  .addSubcommand((sub) =>
    withVoter(
      sub.setName("set").setDescription("Choose who gets pinged if a super validator hasn't voted"),
      "The super validator",
    ).addMentionableOption((option) =>
      option.setName(WHO).setDescription("A member, or a role").setRequired(true),
    ),
  )
  .addSubcommand((sub) => sub.setName("list").setDescription("List the representatives of super validators"))
  .addSubcommand((sub) =>
    withVoter(
      sub.setName("remove").setDescription("Remove a super validator's representatives"),
      "The super validator",
    ),
  );

/** Returns the roles among representatives that no reminder pings any more. None, if Discord cannot be asked. */
async function unpingableRoles(
  services: FeedServices,
  guildId: string,
  botId: string,
  all: readonly Representative[],
): Promise<ReadonlySet<Representative>> {
  const reader = readingOnce(services.rest);
  const pinging = (await pingingChannels(services, guildId)).map(async (channelId) =>
    (await visiblePlace(reader, guildId, channelId).catch(() => undefined)) ? [channelId] : [],
  );
  const channelIds = (await Promise.all(pinging)).flat();
  const isPinged = async ({ who, setBy }: Representative): Promise<boolean> => {
    for (const channelId of channelIds)
      if (await isPingable(reader, { guildId, channelId, botId }, who.id, setBy).catch(() => true))
        return true;
    return false;
  };
  const roles = channelIds.length === 0 ? [] : all.filter(({ who }) => who.kind === "role");
  const checked = await Promise.all(roles.map(async (each) => ((await isPinged(each)) ? [] : [each])));
  return new Set(checked.flat());
}

/** Shown for a representative that was a role. */
const GONE = md`⚠️ a deleted role, so nobody is pinged`;
/** Shown beside a role that is not mentionable, and that the bot or its mapper, who may have left, may not ping. */
const UNPINGABLE = md`⚠️ isn't pinged`;
const unpingableAdvice = ({ renderer }: FeedServices) =>
  md`⚠️ A role that isn't mentionable is only pinged while both I and the person who set it may ping it. Make it mentionable, or set it again with \`/voters set\`${renderer.networkOption}.`;

const mentionOf = ({ who }: Pick<Representative, "who">): Markdown =>
  who.kind === "role" ? roleMention(who.id) : userMention(who.id);

/**
 * Returns the super validator that a person typed, as it is stored.
 * @throws {PersonError} if none or several match
 */
async function chosenVoter({ options }: ChatInputCommandInteraction, services: FeedServices, isNew = false) {
  const id = await readThing(options.getString(SV, true), ["voter"], services);
  const knownVoter =
    services.directory.entry("voter", id) ?? services.directory.named(["voter"], id)[0]?.entry;
  if (!knownVoter && isLoading(services.directory, ["voter"]))
    throw new PersonError(
      "The names of super validators are still loading. Try again in a minute.",
      "missing",
    );
  if (!knownVoter)
    throw new PersonError(
      "No super validator with that name has voted lately. Pick one of the suggestions as you type.",
      "missing",
    );
  if (isNew && knownVoter.active === false) throw noLongerVoter();
  const name = knownVoter.name ?? id;
  return { name, aliases: [...new Set([id, name])] };
}

/** Returns the ids of a server's channels whose reminders ping representatives. */
async function pingingChannels({ subscriptions }: FeedServices, guildId: string): Promise<string[]> {
  const all = await subscriptions.activeIn(guildId, governance.name);
  return all.filter(pingsMissing).map(({ channelId }) => channelId);
}

const mentionsOf = (channelIds: readonly string[]): Markdown =>
  join([...new Set(channelIds)].map(channelMention), ", ");

/** Says where representatives are pinged, or what to do so that they are. */
async function pingedLine(services: FeedServices, guildId: string): Promise<Markdown> {
  const pinging = await pingingChannels(services, guildId);
  if (pinging.length === 1)
    return md`-# While the vote is missing, reminders ping them in ${mentionsOf(pinging)}.`;
  if (pinging.length > 1)
    return md`-# While the vote is missing, reminders ping each of them in the first of these channels that they can see: ${mentionsOf(pinging)}.`;
  const candidates = (await services.subscriptions.of([guildId, NO_SERVER])).filter(
    ({ feed, userId }) => feed === governance.name && userId === null,
  );
  const isHere = async ({ guildId: known, channelId }: Subscription) =>
    (known ?? (await guildOf(services.rest, channelId).catch(() => null))) === guildId;
  const areHere = await Promise.all(candidates.map(isHere));
  const all = candidates.filter((_, index) => areHere[index]);
  const paused = all.filter(pingsMissing).map(({ channelId }) => channelId);
  if (paused.length > 0)
    return md`⚠️ No channel pings them yet: the governance subscription in ${mentionsOf(paused)} is paused. Resume it in \`/setup\`.`;
  return all.length === 0
    ? md`⚠️ No channel pings them yet. Add Governance in \`/setup\`${services.renderer.networkOption}, then pick it there, press Edit, and choose to ping representatives.`
    : md`⚠️ No channel pings them yet. Pick the governance subscription in \`/setup\`, press Edit, check that reminders before deadlines are on, and choose to ping representatives.`;
}

/** Warns of a member who can see none of the channels that ping them. Nothing, if Discord cannot be asked. */
async function unseenLine(
  interaction: ChatInputCommandInteraction,
  services: FeedServices,
  { guildId, who }: Representative,
): Promise<Markdown | undefined> {
  // Discord does not tell what the members of a role can see.
  const channelIds = who.kind === "role" ? [] : await pingingChannels(services, guildId);
  const reader = readerOf(interaction);
  for (const channelId of channelIds)
    if (await canView(reader, { guildId, channelId }, who.id).catch(() => true)) return undefined;
  return channelIds.length === 0
    ? undefined
    : md`⚠️ ${mentionOf({ who })} can't see ${mentionsOf(channelIds)}, so Discord won't notify them. Grant **View Channel** there.`;
}

/** Returns the member or role that a person chose. @throws {PersonError} if they may not be set */
async function chosenWho(
  interaction: ChatInputCommandInteraction,
  services: FeedServices,
  guildId: string,
): Promise<Representative["who"]> {
  const { options, client, user: person } = interaction;
  const reader = readerOf(interaction);
  const { user, role } = options.get(WHO, true);
  if (role) {
    await checkPingable(reader, {
      guildId,
      roleId: role.id,
      botId: client.user.id,
      personId: person.id,
      channelIds: await pingingChannels(services, guildId),
    });
    return { kind: "role", id: role.id };
  }
  if (!user) throw new PersonError("Pick a member of this server or a role.");
  if (user.bot)
    throw new PersonError("A bot can't represent a super validator. Pick a member of this server or a role.");
  await checkMember(reader, guildId, user.id);
  return { kind: "member", id: user.id };
}

/** Stores a representative. Returns those that it replaces. @throws {PersonError} if the server has as many as it may */
async function storeRepresentative(
  { state, renderer }: FeedServices,
  representative: Representative,
): Promise<readonly Representative[]> {
  const { guildId, name, aliases } = representative;
  const collection = state.open(representatives);
  let replaced: readonly (readonly [key: string, Representative])[] = [];
  await commitWithin(state, ownerOf({ guildId, userId: null }), async () => {
    const all = [...(await representativesIn(state, guildId))];
    replaced = all.filter(([, each]) => isSameVoter(each, representative));
    if (replaced.length === 0 && all.length >= MAX_MAPPED)
      throw new PersonError(
        `This server already has representatives for ${all.length} super validators, which is the maximum. Remove one with \`/voters remove\`${renderer.networkOption} first.`,
      );
    return [
      ...replaced.map(([key]) => collection.delete(key)),
      collection.put(representativeId(guildId, aliases[0] ?? name), representative),
    ];
  });
  return replaced.map(([, each]) => each);
}

async function setRepresentative(
  interaction: ChatInputCommandInteraction,
  services: FeedServices,
): Promise<MessagePayload> {
  const guildId = serverOf(interaction);
  const voter = await chosenVoter(interaction, services, true);
  const who = await chosenWho(interaction, services, guildId);
  const representative: Representative = {
    guildId,
    ...voter,
    who,
    setAt: Date.now(),
    setBy: interaction.user.id,
  };
  const replaced = await storeRepresentative(services, representative);
  const others = replaced.filter((each) => each.who.id !== who.id).map(mentionOf);
  const lines = [
    md`**${cut(voter.name, 100)}** → ${mentionOf(representative)}`,
    others.length > 0 && md`-# Replaces ${join(others, ", ")}. To ping several people, set a role.`,
    await pingedLine(services, guildId),
    await unseenLine(interaction, services, representative),
  ];
  return say(services, md`Representative set`, present(lines));
}

async function listRepresentatives(
  interaction: ChatInputCommandInteraction,
  services: FeedServices,
): Promise<MessagePayload> {
  const guildId = serverOf(interaction);
  const ownRepresentatives = [...(await representativesIn(services.state, guildId)).values()].sort((a, b) =>
    a.name.localeCompare(b.name),
  );
  const roleIds = ownRepresentatives.flatMap(({ who }) => (who.kind === "role" ? [who.id] : []));
  const deletedRoles = await goneRoles(services.rest, guildId, roleIds);
  const unpingable = await unpingableRoles(
    services,
    guildId,
    interaction.client.user.id,
    ownRepresentatives.filter(({ who }) => !deletedRoles.has(who.id)),
  );
  const whoOf = (each: Representative) => {
    if (deletedRoles.has(each.who.id)) return GONE;
    return unpingable.has(each) ? md`${mentionOf(each)} ${UNPINGABLE}` : mentionOf(each);
  };
  return say(
    services,
    md`Representatives of super validators`,
    ownRepresentatives.length === 0
      ? [
          md`Nobody yet. Use \`/voters set\`${services.renderer.networkOption} to choose who gets pinged while a vote is missing.`,
        ]
      : present([
          // First, because a long list is cut at its end.
          await pingedLine(services, guildId),
          unpingable.size > 0 && unpingableAdvice(services),
          md``,
          ...ownRepresentatives.map((each) => md`**${cut(each.name, 80)}** → ${whoOf(each)}`),
        ]),
    "neutral",
  );
}

async function remove(
  interaction: ChatInputCommandInteraction,
  services: FeedServices,
): Promise<MessagePayload> {
  const ownRepresentatives = [...(await representativesIn(services.state, serverOf(interaction)))];
  const typedName = interaction.options.getString(SV, true).trim().toLowerCase();
  // The name in `/voters list` counts first: that of a former super validator may be part of another's. If it joined again under
  // another party, the list may have its name twice.
  const namedOnes = ownRepresentatives.filter(([, { name, aliases }]) =>
    [name, ...aliases].some((each) => each.toLowerCase() === typedName),
  );
  const voter = namedOnes[0]?.[1] ?? (await chosenVoter(interaction, services));
  const foundOnes =
    namedOnes.length > 0 ? namedOnes : ownRepresentatives.filter(([, each]) => isSameVoter(each, voter));
  if (foundOnes.length === 0)
    throw new PersonError(
      "That super validator has no representative here. `/voters list` shows the ones that do.",
    );
  await services.state.commit(foundOnes.map(([key]) => services.state.open(representatives).delete(key)));
  return say(services, md`Representative removed`, [
    md`Reminders no longer ping anyone for **${cut(voter.name, 100)}**.`,
  ]);
}

const actions = new Map(Object.entries({ set: setRepresentative, list: listRepresentatives, remove }));

/** `/voters`: sets the people to ping while a super validator has not voted. */
export const votersCommand: ActingCommand<FeedServices> = {
  definition: definition.toJSON(),
  group: "Governance",
  suggests: { [`set ${SV}`]: ["voter"] },
  // Former super validators may have representatives, too.
  async complete(interaction, { state }) {
    const { guildId, options } = interaction;
    const mapped = guildId === null ? [] : [...(await representativesIn(state, guildId)).values()];
    return matchingChoices(
      mapped.map(({ name }) => ({ name, value: name })).toSorted((a, b) => a.name.localeCompare(b.name)),
      options.getFocused(),
    );
  },
  async run(interaction, services) {
    const action = actions.get(interaction.options.getSubcommand());
    if (!action) throw new PersonError(OTHER_VERSION);
    return action(interaction, services);
  },
};
