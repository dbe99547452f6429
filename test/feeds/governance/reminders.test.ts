import { expect, it } from "vitest";
import { createDirectory } from "../../../src/directory/directory.js";
import { createNames } from "../../../src/directory/names.js";
import { createMessages } from "../../../src/feeds/governance/messages.js";
import { toVoteRequest } from "../../../src/feeds/governance/tracking.js";
import { DAY, HOUR } from "../../../src/util/units.js";
import { newState } from "../../harness.js";
import { NOW, tracked } from "../../spec/vote-requests.js";

it.each([
  ["the quorum's date while the quorum is missing", 1, 0, "⏰ 11 h left to vote: A title (1 of 9 votes)"],
  ["the decision's date once it is met", 9, 2, "⏰ 2 days left to vote: A title (9 yes votes, enough)"],
])("a reminder of the decision names %s", async (_, yes, no, news) => {
  const state = newState();
  const names = createNames({
    directory: createDirectory(),
    explorer: {} as never,
    state,
    log: { warn() {} },
  });
  const messages = createMessages(names, () => NOW);
  const deadline = NOW + 2 * DAY;
  const request = toVoteRequest(
    tracked(
      { yes, no, pending: 13 - yes - no },
      { voteBefore: NOW + 11 * HOUR, targetEffectiveAt: deadline },
    ),
  );
  const snapshot = { request, needed: 9, revision: 1, isOver: false, missing: async () => null };
  const { notification } = messages.reminder({ snapshot, deadline, mark: "m" }, { lines: [] });
  expect(String(notification)).toBe(news);
  await state.close();
});
