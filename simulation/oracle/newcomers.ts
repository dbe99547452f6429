import type { Judge } from "./evidence.js";

/** Checks that each new validator is announced once, and that known ones are not. */
export const judgeNewcomers: Judge = function* ({ history, community }, evidence) {
  for (const channelId of community.newcomers) {
    const own = evidence.in(channelId);
    const old = own.filter(({ content }) => /joined: .*Node \d/.test(content)).length;
    if (old > 0) yield `Told of ${old} that were there before: ${channelId}`;
    const announced = own.reduce(
      (sum, { content }) =>
        sum + Number(/(\d+) validators joined/.exec(content)?.[1] ?? content.includes("joined: ")),
      0,
    );
    const all = history.joinings.length;
    const lastAt = Math.max(...history.joinings.map(({ at }) => at));
    if (announced > all || (announced < all && evidence.isClean(lastAt, history.endAt)))
      yield `${announced} announced, and ${all} joined: ${channelId}`;
    for (const { at, name } of history.joinings) {
      const told = own.filter(({ content, text }) => / joined: /.test(content) && text.includes(name)).length;
      const isTogether = name.includes("together");
      if (told > 1) yield `Told ${told} times: ${name} in ${channelId}`;
      // A message names the first ten.
      if (told === 0 && !isTogether && evidence.isClean(at, history.endAt))
        yield `Not told: ${name} in ${channelId}`;
    }
  }
};
