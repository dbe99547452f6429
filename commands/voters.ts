import { SlashCommandBuilder, type SlashCommandSubcommandBuilder } from "@discordjs/builders";
import type { ChatInputCommandInteraction } from "discord.js";
import {
  ApplicationIntegrationType,
  InteractionContextType,
  PermissionFlagsBits,
} from "discord-api-types/v10";
import { type ActingCommand, OTHER_VERSION } from "../src/discord/command.js";
import type { MessagePayload } from "../src/discord/message.js";
import { checkPingable } from "../src/discord/places.js";
import { isSameVoter } from "../src/ledger/votes.js";
import type { Network } from "../src/networks/network.js";
import type { MappedVoter } from "../src/storage/catalogue.js";
import { type Markdown, md, roleMention, userMention } from "../src/text/markdown.js";
import { cut } from "../src/text/plain.js";
import { digest } from "../src/util/digest.js";
import { PersonError } from "../src/util/person-error.js";
import { readThing } from "./subscribe/choice.js";
import { say, serverOf } from "./subscribe/handlers.js";

/** The most super validators that a server may map. */
const MAX_MAPPED = 40;

const SV = "sv";
const WHO = "who";

const withVoter = (builder: SlashCommandSubcommandBuilder, description: string) =>
  builder.addStringOption((option) =>
    option.setName(SV).setDescription(description).setRequired(true).setMaxLength(600).setAutocomplete(true),
  );

const definition = new SlashCommandBuilder()
  .setName("voters")
  .setDescription("Who in this server represents which super validator")
  .setDefaultMemberPermissions(PermissionFlagsBits.ManageGuild)
  .setContexts(InteractionContextType.Guild)
  .setIntegrationTypes(ApplicationIntegrationType.GuildInstall)
  .addSubcommand((sub) =>
    withVoter(
      sub.setName("set").setDescription("Say whom reminders ping while a super validator has not voted"),
      "The super validator",
    ).addMentionableOption((option) =>
      option.setName(WHO).setDescription("A member, or a role").setRequired(true),
    ),
  )
  .addSubcommand((sub) => sub.setName("list").setDescription("Who represents which super validator"))
  .addSubcommand((sub) =>
    withVoter(
      sub.setName("remove").setDescription("Ping nobody for a super validator any more"),
      "Which one",
    ),
  );

const mentionOf = ({ who }: Pick<MappedVoter, "who">): Markdown =>
  who.kind === "role" ? roleMention(who.id) : userMention(who.id);

/** A server's own, by their ids in the state. */
const ownOf = async ({ state }: Network, guildId: string) =>
  [...(await state.voters.list())].filter(([, each]) => each.guildId === guildId);

/** The super validator that was typed, as it is kept. @throws {PersonError} where it is none, or several */
async function chosen({ options }: ChatInputCommandInteraction, services: Network) {
  const id = await readThing(options.getString(SV, true), ["voter"], services);
  const known = services.directory.entry("voter", id) ?? services.directory.named(["voter"], id)[0]?.entry;
  if (!known)
    throw new PersonError(
      "No super validator by that name has voted lately. Choose one of those that are offered as you type.",
      "missing",
    );
  const name = known.name ?? id;
  return { name, aliases: [...new Set([id, name])] };
}

const PINGED = md`-# Reminders ping them where a subscription to governance has \`missing: ping\`, and only while the vote is missing.`;

async function set(interaction: ChatInputCommandInteraction, services: Network): Promise<MessagePayload> {
  const guildId = serverOf(interaction);
  const { options, client } = interaction;
  const voter = await chosen(interaction, services);
  const { user, role } = options.get(WHO, true);
  if (!role && !user) throw new PersonError("Choose a member of this server, or a role.");
  if (user?.bot) throw new PersonError("A bot does not vote: choose a member of this server, or a role.");
  if (role) {
    await checkPingable(services.rest, client.user.id, guildId, role.id);
    if (!role.mentionable && !interaction.memberPermissions?.has(PermissionFlagsBits.MentionEveryone))
      throw new PersonError(
        `<@&${role.id}> is not mentionable by everybody, and you may not ping it yourself.`,
      );
  }
  const who = role
    ? ({ kind: "role", id: role.id } as const)
    : ({ kind: "member", id: user?.id ?? "" } as const);
  const kept: MappedVoter = { guildId, ...voter, who, setAt: Date.now() };
  const own = await ownOf(services, guildId);
  const before = own.filter(([, each]) => isSameVoter(each, voter));
  if (before.length === 0 && own.length >= MAX_MAPPED)
    throw new PersonError(
      `This server has ${own.length} of these, as many as it may have. \`/voters remove\` ends one.`,
    );
  await services.state.commit([
    ...before.map(([key]) => services.state.voters.delete(key)),
    services.state.voters.put(`${guildId}/${digest(voter.aliases[0] ?? voter.name)}`, kept),
  ]);
  return say(services, md`Set`, [md`**${cut(voter.name, 100)}** → ${mentionOf(kept)}`, PINGED]);
}

async function list(interaction: ChatInputCommandInteraction, services: Network): Promise<MessagePayload> {
  const own = (await ownOf(services, serverOf(interaction)))
    .map(([, each]) => each)
    .sort((a, b) => a.name.localeCompare(b.name));
  return say(
    services,
    md`Who represents which super validator`,
    own.length === 0
      ? [md`Nobody yet: \`/voters set\` says who is pinged while a vote is missing.`]
      : [...own.map((each) => md`**${cut(each.name, 80)}** → ${mentionOf(each)}`), md``, PINGED],
    "neutral",
  );
}

async function remove(interaction: ChatInputCommandInteraction, services: Network): Promise<MessagePayload> {
  const own = await ownOf(services, serverOf(interaction));
  const typed = interaction.options.getString(SV, true).trim().toLowerCase();
  const voter = await chosen(interaction, services).catch((error: unknown) => {
    // One that no longer votes can be removed by its name all the same.
    const kept = own.find(([, { aliases }]) => aliases.some((alias) => alias.toLowerCase() === typed));
    if (!kept) throw error;
    return kept[1];
  });
  const found = own.filter(([, each]) => isSameVoter(each, voter));
  if (found.length === 0)
    throw new PersonError("Nobody represents that super validator: `/voters list` shows who does.");
  await services.state.commit(found.map(([key]) => services.state.voters.delete(key)));
  return say(services, md`Removed`, [md`Nobody is pinged for **${cut(voter.name, 100)}** any more.`]);
}

const actions = new Map(Object.entries({ set, list, remove }));

/** /voters: who is pinged while a super validator has not voted. */
export const voters: ActingCommand<Network> = {
  definition: definition.toJSON(),
  group: "Governance",
  suggests: { [SV]: ["voter"] },
  async run(interaction, services) {
    const action = actions.get(interaction.options.getSubcommand());
    if (!action) throw new PersonError(OTHER_VERSION);
    return action(interaction, services);
  },
};
