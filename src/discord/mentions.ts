import { commandMention } from "../text/markdown.js";

const COMMAND = /`\/([a-z]+(?: [a-z-]+)?)`/g;

/** A text with our commands in it, such as `/price` in a code span, as mentions that can be clicked if that is possible. */
export const withMentions = (text: string, paths: ReadonlyMap<string, string>): string =>
  text.replace(COMMAND, (span, path: string) => {
    const id = paths.get(path);
    return id === undefined ? span : commandMention(path, id).toString();
  });
