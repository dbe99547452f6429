import type { Judge } from "./evidence.js";

/** Checks that each new validator is announced once, and that known ones are not. */
export const judgeNewcomers: Judge = function* ({ history, community }, evidence) {
  for (const channelId of community.newcomers) {
    const own = evidence.in(channelId);
    const old = own.filter(({ content }) => /joined: .*Node \d/.test(content)).length;
    if (old > 0) yield `Told of ${old} that were there before: ${channelId}`;
    for (const { at, name } of history.joinings) {
      const told = own.filter(({ content, text }) => / joined: /.test(content) && text.includes(name)).length;
      if (told > 1) yield `Told ${told} times: ${name} in ${channelId}`;
      if (told === 0 && evidence.isClean(at, history.endAt)) yield `Not told: ${name} in ${channelId}`;
    }
  }
};
