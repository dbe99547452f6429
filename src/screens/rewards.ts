import { ifAnswered } from "../explorer/errors.js";
import { openUndocumentedSlice, readPages } from "../explorer/paging.js";
import type { Reward } from "../explorer/schema/ledger.js";
import type { Explorer } from "../explorer/service.js";
import { toDecimal } from "../explorer/values.js";
import { sumOf } from "../ledger/amounts.js";
import { COIN } from "../text/coin.js";
import { shortId } from "../text/ids.js";
import { bold, codeBlock, coins, join, type Markdown, md, timestamp } from "../text/markdown.js";
import { countedWords, fixed, grouped } from "../text/numbers.js";
import { pastTime } from "../util/clock.js";
import { address } from "./addresses.js";
import { extent, happenedAt, orNothing, rowMenu } from "./parts.js";
import type { Field, Screen } from "./view.js";
import { AT_CURRENT_PRICE, currentPrice, usdOf } from "./worth.js";

const KINDS = [
  ["app", "inputAppRewardAmount"],
  ["validator", "inputValidatorRewardAmount"],
  ["super validator", "inputSvRewardAmount"],
] as const;

/** True if the explorer gives at least one of a reward's amounts. */
const isKnown = (reward: Reward): boolean => KINDS.some(([, key]) => reward[key] !== null);

/** Formats a reward's amounts that are not zero, each with its kind. */
function amountsOf(reward: Reward): Markdown {
  if (!isKnown(reward)) return md`amount unknown`;
  const amounts = KINDS.flatMap(([kind, key]) =>
    reward[key] === null || toDecimal(reward[key]) === "0"
      ? []
      : [`${fixed(reward[key], 4)} ${COIN} ${kind}`],
  );
  return md`${amounts.length > 0 ? amounts.join(" · ") : "no amount"}`;
}

/** Maximum number of pages of rewards to sum. More would be too many requests for one screen. */
const MAX_SUMMED = 3;

/** Returns the sums of recent rewards by kind. */
async function sumFields(explorer: Explorer, id: string, price: string | null): Promise<Field[]> {
  const allRewards = await ifAnswered(
    readPages(
      "rewards",
      (at) => explorer.rewards({ partyId: id, ...at }),
      () => false,
      MAX_SUMMED,
    ),
  );
  if (!allRewards || allRewards.problem) return [{ name: "Total", value: md`couldn't be read right now` }];
  const { data: all, complete, isCut } = allRewards;
  if (all.length === 0) return [];
  const unknownCount = all.filter((reward) => !isKnown(reward)).length;
  const times = all.flatMap(({ createdAt }) => pastTime(createdAt, allRewards.fetchedAt) ?? []);
  const oldestReward = Math.min(...times);
  const lastAt = times.at(-1) ?? 0;
  // The order of the explorer's list is not documented.
  const isOldestFirst = isCut && (times[0] ?? 0) < lastAt;
  const sums = KINDS.map(([kind, key]) => [kind, sumOf(all.map((reward) => reward[key]))] as const);
  const total = sumOf(sums.map(([, sum]) => sum));
  const usd = usdOf(total, price);
  const period = join(
    [
      join(
        [
          isCut && md`the ${isOldestFirst ? "oldest" : "newest"}`,
          complete && all.length > 1 && md`all`,
          md`${countedWords(all.length, "reward")}`,
        ],
        " ",
      ),
      unknownCount > 0 && md`${grouped(unknownCount)} of unknown amount`,
      Number.isFinite(oldestReward) &&
        md`${isOldestFirst ? "from" : "since"} ${timestamp(oldestReward, "f")}`,
      isOldestFirst && md`to ${timestamp(lastAt, "f")}`,
      usd && AT_CURRENT_PRICE,
    ],
    ", ",
  );
  const sumParts = sums.filter(([, sum]) => sum !== "0").map(([kind, sum]) => md`${coins(sum, 4)} ${kind}`);
  return [
    {
      name: "Total",
      value: join(
        [
          unknownCount < all.length ? join([bold(coins(total, 4)), usd && md`(${usd})`], " ") : md`unknown`,
          sumParts.length > 1 && join(sumParts, " · "),
          md`-# ${period}`,
        ],
        "\n",
      ),
    },
  ];
}

/** Shows a party's rewards. */
export const rewards: Screen<"rewards"> = async ({ id, page }, { explorer, directory, names }) => {
  const [reading, price] = await Promise.all([
    openUndocumentedSlice("rewards", (at) => explorer.rewards({ partyId: id, ...at }), page),
    currentPrice(explorer),
  ]);
  return {
    title: md`Rewards of ${names.party(id) ?? shortId(id)}`,
    body: [
      ...orNothing(
        reading.data.rows.map((each) =>
          join(
            [
              happenedAt(each.createdAt, "f"),
              bold(amountsOf(each)),
              isKnown(each) && usdOf(sumOf(KINDS.map(([, key]) => each[key])), price),
            ],
            " · ",
          ),
        ),
        "rewards for this party",
      ),
      md``,
      md`-# ${extent(reading.data, "reward")}`,
    ],
    fields: [...(await sumFields(explorer, id, price)), { name: "Party id", value: codeBlock(id) }],
    readings: [reading],
    isNothing:
      reading.data.rows.length === 0 && !directory.entry("party", id) && !directory.entry("validator", id),
    pager: reading.data,
    menus: [
      rowMenu(reading.data.rows, "Open a reward's event…", (each) =>
        each.eventId === null
          ? undefined
          : {
              label: amountsOf(each).toString(),
              hint: shortId(each.eventId),
              to: address("event", { id: each.eventId }),
            },
      ),
    ],
    links: [{ label: "Party", emoji: "👤", to: address("party", { id }) }],
    parent: address("party", { id }),
  };
};
