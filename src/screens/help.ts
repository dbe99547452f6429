import { join, type Markdown, md } from "../text/markdown.js";
import { present } from "../util/present.js";
import { address } from "./addresses.js";
import type { CommandHelp, Menu, Screen, View } from "./view.js";

/** Returns the commands that start watches, with commas between them. */
export const watchCommands = (names: readonly string[]): Markdown =>
  join(
    names.map((name) => md`\`/watch ${name}\``),
    ", ",
  );

/** Shows the commands of one group. */
const groupView = (group: string, commands: readonly CommandHelp[], menus: readonly Menu[]): View => ({
  title: md`Commands: ${group}`,
  body: commands.flatMap(({ mentions, description }) => [join(mentions, " · "), md`-# ${description}`]),
  menus,
  parent: address("help", {}),
});

/** Shows what a person can do next. A menu opens the commands by group. */
export const help: Screen<"help"> = async ({ group }, { commands, networkName, others, watchNames }) => {
  const allCommands = commands();
  const groups = [...new Set(allCommands.map((each) => each.group))];
  const menus = [
    {
      placeholder: "All commands…",
      choices: groups.map((each) => ({
        label: each,
        to: address("help", { group: each }),
        chosen: each === group,
      })),
    },
  ];
  const ofGroup = allCommands.filter((each) => each.group === group);
  if (group !== undefined && ofGroup.length > 0) return groupView(group, ofGroup, menus);
  const mayManage = allCommands.some(({ isForManagers }) => isForManagers);
  return {
    title: md`What I can do`,
    body: present([
      mayManage && md`**Set up this server:** \`/setup\` shows what's announced here and lets you change it.`,
      md`**Look around:** \`/network\`, \`/price\`, \`/validator list\`, \`/proposals list\`. \`/lookup\` opens any id, link or name.`,
      md`**Get private alerts:** ${watchCommands(watchNames)}.`,
      others.length > 0 &&
        md`Add \`network:\` to a command to ask about another network: ${others.join(", ")}.`,
      md`-# I only read the ledger: I can't vote or move coins. My answers come from the explorer${networkName ? md` of ${networkName}` : md``} and show their age. With \`private: True\`, only you see the answer.`,
    ]),
    menus,
    links: [
      { label: "Network", emoji: "🌐", to: address("network", {}) },
      { label: "Price", emoji: "💲", to: address("price", {}) },
      { label: "Vote requests", emoji: "🗳️", to: address("proposals", {}) },
      { label: "Validators", emoji: "🖥️", to: address("overview", {}) },
    ],
  };
};
