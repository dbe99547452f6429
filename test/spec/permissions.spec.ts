import {
  type APIChannel,
  type APIGuild,
  type APIOverwrite,
  ChannelType,
  PermissionFlagsBits as P,
} from "discord-api-types/v10";
import { describe, expect, it } from "vitest";
import {
  ALL,
  type ChannelPlace,
  isThread,
  missingPermissions,
  neededIn,
  permissionsIn,
} from "../../src/discord/permissions.js";

const ROLES = { g: P.ViewChannel | P.SendMessages, mods: P.ManageMessages, admins: P.Administrator } as const;

const guild = {
  id: "g",
  owner_id: "olga",
  roles: Object.entries(ROLES).map(([id, bits]) => ({ id, permissions: String(bits) })),
} as unknown as APIGuild;

const overwrite = (type: 0 | 1, id: string, given: { allow?: bigint; deny?: bigint }): APIOverwrite => ({
  id,
  type,
  allow: String(given.allow ?? 0n),
  deny: String(given.deny ?? 0n),
});
const role = (id: string, given: { allow?: bigint; deny?: bigint }) => overwrite(0, id, given);
const member = (id: string, given: { allow?: bigint; deny?: bigint }) => overwrite(1, id, given);
const { ViewChannel: VIEW, SendMessages: SEND, ManageMessages: MANAGE } = P;

describe("a member's permissions in a channel", () => {
  const cases: readonly [
    what: string,
    overwrites: readonly APIOverwrite[],
    who: string,
    roleIds: readonly string[],
    expected: bigint,
  ][] = [
    ["include those of @everyone", [], "ana", [], VIEW | SEND],
    ["include those of their roles", [], "ana", ["mods"], VIEW | SEND | MANAGE],
    ["are complete for the owner, whatever is denied", [role("g", { deny: VIEW })], "olga", [], ALL],
    [
      "are complete for an administrator, whatever is denied",
      [member("ana", { deny: VIEW })],
      "ana",
      ["admins"],
      ALL,
    ],
    ["lack what is denied to @everyone", [role("g", { deny: SEND })], "ana", [], VIEW],
    ["include what is allowed to @everyone", [role("g", { allow: MANAGE })], "ana", [], VIEW | SEND | MANAGE],
    [
      "let a role's allow override @everyone's deny",
      [role("mods", { allow: SEND }), role("g", { deny: SEND })],
      "ana",
      ["mods"],
      VIEW | SEND | MANAGE,
    ],
    [
      "let a role's deny override @everyone's allow",
      [role("g", { allow: MANAGE }), role("mods", { deny: MANAGE })],
      "ana",
      ["mods"],
      VIEW | SEND,
    ],
    [
      "ignore overwrites for roles that the member does not have",
      [role("mods", { allow: MANAGE, deny: VIEW })],
      "ana",
      [],
      VIEW | SEND,
    ],
    [
      "let one role's allow override another role's deny",
      [role("mods", { deny: SEND }), role("other", { allow: SEND })],
      "ana",
      ["mods", "other"],
      VIEW | SEND | MANAGE,
    ],
    [
      "let the member's own allow override a role's deny",
      [member("ana", { allow: SEND }), role("mods", { deny: SEND })],
      "ana",
      ["mods"],
      VIEW | SEND | MANAGE,
    ],
    [
      "ignore overwrites for other members",
      [member("ben", { allow: MANAGE, deny: VIEW })],
      "ana",
      [],
      VIEW | SEND,
    ],
    [
      "ignore a role overwrite with the member's id",
      [role("ana", { allow: MANAGE })],
      "ana",
      [],
      VIEW | SEND,
    ],
    [
      "ignore a member overwrite with a role's id",
      [member("mods", { deny: VIEW })],
      "ana",
      ["mods"],
      VIEW | SEND | MANAGE,
    ],
    [
      "let an overwrite's allow override its own deny",
      [role("g", { allow: SEND, deny: SEND })],
      "ana",
      [],
      VIEW | SEND,
    ],
  ];
  it.each(cases)("%s", (_, overwrites, who, roleIds, expected) => {
    expect(permissionsIn({ guild, overwrites }, who, roleIds)).toBe(expected);
  });
});

describe("missing permissions", () => {
  it("are named as in Discord's settings, in the order in which they are needed", () => {
    expect(missingPermissions(VIEW, ["ViewChannel", "SendMessages", "MentionEveryone"])).toEqual([
      "Send Messages",
      "Mention @everyone, @here, and All Roles",
    ]);
    expect(missingPermissions(ALL, ["ViewChannel", "EmbedLinks"])).toEqual([]);
    const all = [
      "SendMessagesInThreads",
      "CreatePublicThreads",
      "EmbedLinks",
      "AttachFiles",
      "ReadMessageHistory",
      "ManageMessages",
    ] as const;
    expect(missingPermissions(0n, all)).toEqual([
      "Send Messages in Threads",
      "Create Public Threads",
      "Embed Links",
      "Attach Files",
      "Read Message History",
      "Manage Messages",
    ]);
    expect(missingPermissions(0n, ["ViewChannel"])).toEqual(["View Channel"]);
  });
});

describe("the permissions that the bot needs", () => {
  const place = (type: ChannelType): ChannelPlace => ({
    channel: { type } as APIChannel,
    guild,
    overwrites: [],
  });
  const shown = ["EmbedLinks", "AttachFiles", "ReadMessageHistory"];

  it.each<[string, ChannelType, boolean, boolean, readonly string[]]>([
    [
      "to write in a text channel",
      ChannelType.GuildText,
      false,
      false,
      ["ViewChannel", "SendMessages", ...shown],
    ],
    [
      "to write in an announcement channel",
      ChannelType.GuildAnnouncement,
      false,
      false,
      ["ViewChannel", "SendMessages", ...shown],
    ],
    [
      "to open threads under it",
      ChannelType.GuildText,
      true,
      false,
      ["ViewChannel", "SendMessages", ...shown, "CreatePublicThreads", "SendMessagesInThreads"],
    ],
    [
      "to ping a role that is not mentionable",
      ChannelType.GuildText,
      false,
      true,
      ["ViewChannel", "SendMessages", ...shown, "MentionEveryone"],
    ],
    [
      "to post in a forum, with threads or without",
      ChannelType.GuildForum,
      true,
      false,
      ["ViewChannel", "SendMessages", "SendMessagesInThreads", ...shown],
    ],
    [
      "to write in a thread",
      ChannelType.PublicThread,
      false,
      false,
      ["ViewChannel", "SendMessagesInThreads", ...shown],
    ],
  ])("%s", (_, type, thread, mention, expected) => {
    expect(neededIn(place(type), thread, mention)).toEqual(expected);
  });

  it("treat every kind of thread as a thread, and no other channel", () => {
    const isOne = (type: ChannelType) => isThread({ type } as APIChannel);
    expect(
      [ChannelType.PublicThread, ChannelType.PrivateThread, ChannelType.AnnouncementThread].every(isOne),
    ).toBe(true);
    expect([ChannelType.GuildText, ChannelType.GuildForum, ChannelType.DM].some(isOne)).toBe(false);
  });
});
