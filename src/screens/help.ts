import { md } from "../text/markdown.js";
import { address } from "./addresses.js";
import type { Screen } from "./view.js";

/** What there is to ask, and where the answers come from. */
export const help: Screen<"help"> = async (_, { help }) => ({
  title: md`What you can ask`,
  tone: "neutral",
  body: [
    ...help.commands().map(({ mention, description }) => md`${mention} · ${description}`),
    md``,
    md`Buttons and menus below an answer lead on from there. On somebody else's answer they give you a copy of your own, and \`private: True\` shows an answer to you alone.`,
    md`-# The data comes from the explorer at ${help.source}, read-only. Each answer says how old it is.`,
  ],
  readings: [],
  links: [
    { label: "Network", emoji: "🌐", to: address("network", {}) },
    { label: "Price", emoji: "💲", to: address("price", {}) },
    { label: "Vote requests", emoji: "🗳️", to: address("proposals", {}) },
  ],
});
