import { commandMention } from "../text/markdown.js";
import { cut } from "../text/plain.js";
import { LIMITS } from "./limits.js";

const COMMAND = /`\/([a-z]+(?: [a-z-]+)?)`/g;

/** Replaces the bot's commands in code spans, such as `/price`, with clickable mentions if Discord's id is known. */
export const withMentions = (text: string, paths: ReadonlyMap<string, string>): string =>
  text.replace(COMMAND, (span, path: string) => {
    const id = paths.get(path);
    return id === undefined ? span : commandMention(path, id).toString();
  });

/**
 * Returns a sentence as a message's text, with clickable commands and within Discord's limit.
 * @param ending text after the sentence that is never cut
 */
export const toContent = (sentence: string, paths: ReadonlyMap<string, string>, ending = ""): string =>
  `${cut(withMentions(sentence, paths), LIMITS.content - ending.length)}${ending}`;
