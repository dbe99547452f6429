import { expect, it } from "vitest";
import { toContent, withMentions } from "../../src/discord/mentions.js";

const PATHS = new Map([["watch list", "123456789012345678"]]);

it("makes the bot's commands clickable once their ids are known", () => {
  const sentence = "Remove one in `/watch list`, or try `/unknown`.";
  expect(withMentions(sentence, PATHS)).toBe(
    "Remove one in </watch list:123456789012345678>, or try `/unknown`.",
  );
});

it("cuts a sentence to the length of a message, without half a character", () => {
  const content = toContent(`“${"😀".repeat(2_000)}”: \`/watch list\``, PATHS);
  expect(content.length).toBeLessThanOrEqual(2_000);
  expect(content.isWellFormed()).toBe(true);
  expect(content.endsWith("…")).toBe(true);
  const ended = toContent("x".repeat(3_000), PATHS, "\n-# TestNet");
  expect(ended).toHaveLength(2_000);
  expect(ended.endsWith("…\n-# TestNet")).toBe(true);
});
