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

describe("a member's permissions in a place", () => {
  const cases: readonly [
    what: string,
    overwrites: readonly APIOverwrite[],
    who: string,
    roleIds: readonly string[],
    expected: bigint,
  ][] = [
    ["what everybody may", [], "ana", [], VIEW | SEND],
    ["what their roles may too", [], "ana", ["mods"], VIEW | SEND | MANAGE],
    ["anything, as the owner, whatever is denied", [role("g", { deny: VIEW })], "olga", [], ALL],
    [
      "anything, as an administrator, whatever is denied",
      [member("ana", { deny: VIEW })],
      "ana",
      ["admins"],
      ALL,
    ],
    ["less where everybody is denied", [role("g", { deny: SEND })], "ana", [], VIEW],
    ["more where everybody is allowed", [role("g", { allow: MANAGE })], "ana", [], VIEW | SEND | MANAGE],
    [
      "what a role is allowed, over what everybody is denied",
      [role("mods", { allow: SEND }), role("g", { deny: SEND })],
      "ana",
      ["mods"],
      VIEW | SEND | MANAGE,
    ],
    [
      "what a role is denied, over what everybody is allowed",
      [role("g", { allow: MANAGE }), role("mods", { deny: MANAGE })],
      "ana",
      ["mods"],
      VIEW | SEND,
    ],
    [
      "nothing by a role they do not have",
      [role("mods", { allow: MANAGE, deny: VIEW })],
      "ana",
      [],
      VIEW | SEND,
    ],
    [
      "what one role allows, where another denies it",
      [role("mods", { deny: SEND }), role("other", { allow: SEND })],
      "ana",
      ["mods", "other"],
      VIEW | SEND | MANAGE,
    ],
    [
      "what they are allowed themselves, over their roles",
      [member("ana", { allow: SEND }), role("mods", { deny: SEND })],
      "ana",
      ["mods"],
      VIEW | SEND | MANAGE,
    ],
    [
      "not what somebody else is allowed",
      [member("ben", { allow: MANAGE, deny: VIEW })],
      "ana",
      [],
      VIEW | SEND,
    ],
    ["nothing by a role that has their id", [role("ana", { allow: MANAGE })], "ana", [], VIEW | SEND],
    [
      "nothing by a member who has a role's id",
      [member("mods", { deny: VIEW })],
      "ana",
      ["mods"],
      VIEW | SEND | MANAGE,
    ],
    [
      "what an overwrite allows, over what it denies",
      [role("g", { allow: SEND, deny: SEND })],
      "ana",
      [],
      VIEW | SEND,
    ],
  ];
  it.each(cases)("is %s", (_, overwrites, who, roleIds, expected) => {
    expect(permissionsIn({ guild, overwrites }, who, roleIds)).toBe(expected);
  });
});

describe("missing permissions", () => {
  it("is named as Discord's settings name it, in the order in which it is needed", () => {
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

describe("the bot's needs", () => {
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

  it("differs for threads of every kind, and for them alone", () => {
    const isOne = (type: ChannelType) => isThread({ type } as APIChannel);
    expect(
      [ChannelType.PublicThread, ChannelType.PrivateThread, ChannelType.AnnouncementThread].every(isOne),
    ).toBe(true);
    expect([ChannelType.GuildText, ChannelType.GuildForum, ChannelType.DM].some(isOne)).toBe(false);
  });
});
