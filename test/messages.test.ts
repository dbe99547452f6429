import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { createCommands } from "../commands/index.js";
import { messagesBook } from "../sandbox/book/index.js";
import { feeds } from "../src/feeds/index.js";
import { createNetworkChoices } from "../src/networks/choices.js";
import { newState } from "./harness.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string) => readFileSync(join(root, path), "utf8");
const book = read("docs/messages.md");

it("docs/messages.md is up to date (npm run messages updates it)", {
  timeout: 180_000,
}, async () => {
  expect(await messagesBook()).toBe(book);
});

it("docs/messages.md shows an answer for each command", () => {
  const commands = createCommands(feeds, [{ id: "main", name: "MainNet" }], createNetworkChoices(newState()));
  const paths = commands.flatMap(({ definition: { name, options = [] } }) => {
    const subcommands = options.filter(({ type }) => type === 1);
    return subcommands.length === 0 ? [`/${name}`] : subcommands.map((each) => `/${name} ${each.name}`);
  });
  expect(paths.length).toBeGreaterThan(30);
  expect(paths.filter((path) => !new RegExp(`^### \`${path}[\` ]`, "m").test(book))).toEqual([]);
});

const PLACEHOLDER = /\$\{(?:[^{}]|\{[^{}]*\})*\}/g;

/** Returns a pattern that finds a text of the source in the book, without its Markdown. */
const patternOf = (text: string): RegExp =>
  new RegExp(
    text
      .replaceAll("\\`", "")
      .replace(/<[#@&]+(\$\{[^}]*\})>/g, "$1")
      .replace(/[`]|\*\*/g, "")
      .split(PLACEHOLDER)
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
      .join(".*"),
  );

/** Sentences of all expected errors in the source */
const refusals = ["src", "commands"]
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((name) => `${folder}/${name}`),
  )
  .filter((path) => path.endsWith(".ts"))
  .flatMap((path) => [...read(path).matchAll(/PersonError\(((?:[^()]|\([^()]*\))*)\)/g)])
  .flatMap(([, given = ""]) => [...given.matchAll(/"((?:[^"\\]|\\.){12,})"|`((?:[^`\\]|\\.){12,})`/g)])
  .map(([, plain, template]) => plain ?? template ?? "");

it("docs/messages.md shows each refusal, except those that need more than a person and a command", () => {
  expect(refusals.length).toBeGreaterThan(40);
  const missing = refusals
    .filter((text) => !patternOf(text).test(book))
    .map((text) => text.replace(PLACEHOLDER, "…").slice(0, 60));
  expect([...new Set(missing)].sort()).toEqual(NOT_SHOWN.toSorted());
});

/** Beginnings of refusals that the book does not show, because they need a race, a limit or a change in the meantime. */
const NOT_SHOWN: readonly string[] = [
  "<#…> demands a tag on each post and has none. Add a tag to i",
  "<#…> has … subscriptions to …, as many as a channel may have",
  "<#…> is subscribed to that already: edit or remove that one.",
  "<@&…> is not mentionable by everybody, and you lack … in ….",
  "<@&…> is not mentionable by everybody, and you may not ping ",
  "Choose a member of this server, or a role.",
  "Discord limits how fast I may begin to write to people, and ",
  "I do not serve … any more, so this subscription rests. \\`/su",
  "Only those who may manage the server can change its subscrip",
  "That subscription is gone. `/subscribe list` shows what is l",
  "No super validator by that name has voted lately. Choose one",
  "No validator has that id or name. `/validator list` shows th",
  "Nobody is told of this here any more.",
  "Only holders of the role that is pinged, and those who may m",
  "Only those who may manage the server can answer for this ale",
  "The names are still being read. Try again in a minute, or ty",
  "The price moves by a share: type one such as `5%`.",
  "This alert is over.",
  "This is no alert of mine any more: it is over, it was a dril",
  "This is no alert of mine any more: nobody watches the price ",
  "This server has … of these, as many as it may have. \\`/voter",
  "This server has … subscriptions, as many as it may have. \\`/",
  "You may not subscribe …: you lack … there yourself.",
  "You watch nothing like that. `/watch list` shows what you wa",
  "You watch … things, as many as one person may. \\`/watch list",
  "Several things go by that name. Choose one of those that are",
  "Subscriptions belong to a server: use this command in one.",
  "That can no longer be watched.",
  "That channel is not in this server.",
  "That is no id that the explorer could know. Copy it whole, a",
  "That role is not there any more. Choose another.",
  "That super validator is seen in none of the last votes. `/pr",
  "The names are still being read. Try again in a minute, or pa",
];
