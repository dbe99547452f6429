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
  "<#…> already has that subscription. Edit or remove it instea",
  "<#…> already has … subscriptions to …, which is the maximum ",
  "<#…> requires a tag on each post but has no tags. Add one in",
  "<@&…> isn't mentionable, and you can't ping it either: you d",
  "<@&…> isn't mentionable, and you don't have … in …. Pick ano",
  "Can't find a validator with that id or name. Pick one of the",
  "Can't find that super validator in recent votes. `/proposals",
  "Can't find that watch. `/watch list` shows yours.",
  "Discord limits how many new people I can message, and a lot ",
  "For a move, type a percentage, such as `5%`.",
  "I no longer cover …, so this subscription is on hold. You ca",
  "Names are still loading. Try again in a minute, or paste the",
  "No super validator with that name has voted lately. Pick one",
  "Nobody gets alerts about this here any more.",
  "Only people who can manage the server can change its subscri",
  "Only people who can manage the server can respond to this al",
  "Only people with the pinged role, or who can manage the serv",
  "Several things have that name. Pick one of the suggestions a",
  "That channel isn't in this server. Pick one that is.",
  "That doesn't look like an id. Copy all of it, and try again.",
  "That role no longer exists. Pick another.",
  "That subscription isn't in this server: <#…>.",
  "That subscription no longer exists. `/subscribe list` shows ",
  "This alert is no longer active: it's over, it was a test, or",
  "This alert is over.",
  "This command only works in a server.",
  "This price alert no longer exists, so there's nothing to sno",
  "This server already has representatives for … super validato",
  "This server already has … subscriptions, which is the maximu",
  "You already watch … things, which is the maximum. Remove one",
  "You can't subscribe …, because you don't have … there.",
  "You can't watch that any more. Use `/watch` to start another",
];
