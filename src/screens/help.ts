import { join, md } from "../text/markdown.js";
import { address } from "./addresses.js";
import type { Screen } from "./view.js";

/** Shows the commands by group, and the source of the answers. */
export const help: Screen<"help"> = async (_, { commands, source, others }) => {
  const allCommands = commands();
  const groups = [...new Set(allCommands.map(({ group }) => group))];
  return {
    title: md`What you can ask`,
    tone: "neutral",
    body: [
      md`Buttons and menus below an answer lead on from there. On somebody else's answer they give you a copy of your own, and \`private: True\` shows an answer to you alone.`,
      ...(others.length > 0
        ? [md`I serve several networks: \`network:\` in a command names another (${others.join(", ")}).`]
        : []),
      md`-# The data comes from the explorer at ${source}, read-only. Each answer says how old it is.`,
    ],
    fields: groups.map((group) => ({
      name: group,
      value: join(
        allCommands
          .filter((each) => each.group === group)
          .flatMap(({ mentions, description }) => [join(mentions, " · "), md`-# ${description}`]),
        "\n",
      ),
    })),
    readings: [],
    links: [
      { label: "Network", emoji: "🌐", to: address("network", {}) },
      { label: "Price", emoji: "💲", to: address("price", {}) },
      { label: "Vote requests", emoji: "🗳️", to: address("proposals", {}) },
      { label: "Validators", emoji: "🖥️", to: address("overview", {}) },
    ],
  };
};
