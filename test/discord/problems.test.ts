import { DiscordAPIError } from "discord.js";
import { describe, expect, it } from "vitest";
import type { Announced } from "../../src/delivery/collections.js";
import { afterFailedEdit } from "../../src/delivery/edits.js";
import { problemOf } from "../../src/discord/problems.js";
import { DAY, HOUR } from "../../src/util/units.js";

const refused = (status: number, code: number) =>
  new DiscordAPIError({ message: "no", code }, code, status, "POST", "https://discord.example", {});

describe("a refusal", () => {
  it.each([
    ["of all messages for a while", 403, 40_004, "refused-for-now"],
    ["of a feature for a while", 403, 40_006, "refused-for-now"],
    ["of an overloaded resource", 503, 130_000, "unknown"],
    ["that asks to try again later", 400, 110_001, "refused-for-now"],
    ["of edits that come too often", 400, 20_022, "refused-for-now"],
    ["of a message that is too large", 413, 40_005, "invalid"],
    ["of a message's words", 400, 200_000, "invalid"],
    ["of a message's links", 400, 240_000, "invalid"],
    ["for want of a permission", 403, 50_013, "permanent"],
  ])("%s", (_, status, code, problem) => {
    expect(problemOf(refused(status, code))).toBe(problem);
  });

  it("of an edit without the permission is tried again for a week", () => {
    const now = Date.UTC(2026, 10, 23);
    const document: Announced = {
      feed: "governance",
      subject: "s",
      news: false,
      channelId: "1",
      in: "1",
      messageId: "2",
      revision: 1,
      at: now - 6 * DAY,
    };
    expect(afterFailedEdit(document, refused(403, 50_013), now)).toMatchObject({
      revision: 1,
      notBefore: now + HOUR,
    });
    const old = { ...document, at: now - 8 * DAY };
    expect(afterFailedEdit(old, refused(403, 50_013), now)).not.toHaveProperty("revision");
  });
});
