import type { CodeFault } from "./code-fault.js";

/** A fault that the fuzzer or the soak test finds. */
export interface BotFault extends CodeFault {
  /** The effect that people or the operator notice. */
  readonly told: string;
  /** The program that finds it, and its arguments. */
  readonly program: "fuzz" | "soak";
  readonly args: readonly string[];
}

const fuzz = (seed: number, minutes: number): Pick<BotFault, "program" | "args"> => ({
  program: "fuzz",
  args: ["--seed", String(seed), "--minutes", String(minutes)],
});

/** Faults that attacks on 0.2.0 found, by name. */
export const BOT_FAULTS: Readonly<Record<string, BotFault>> = {
  "edits-at-once": {
    told: "the process dies when the alerts of a thousand people end together",
    ...fuzz(4, 1),
    file: "src/delivery/upkeep.ts",
    changes: [["bulkhead(MAX_CHANNELS, ", "bulkhead(Number.POSITIVE_INFINITY, "]],
    also: [
      {
        file: "src/delivery/subscriptions.ts",
        changes: [
          [
            "const candidates = (await subscriptionsByPlace())",
            "const candidates = (await everyOne()) ?? (await subscriptionsByPlace())",
          ],
          [
            "const candidates =",
            "const everyOne = async () => { const all: Subscription[] = []; for await (const [, each] of stored.entries()) all.push(each); return all.filter((each) => each.feed === feed && placesOf(each).includes(place)); }; const candidates =",
          ],
        ],
      },
    ],
  },
  "holds-with-all": {
    told: "thousands of watches block the bot when alerts are put on hold",
    ...fuzz(4, 1),
    file: "src/feeds/validator/holds.ts",
    changes: [
      [
        "const ownHolds = byChannel.get(channelId) ?? [];",
        "const ownHolds = allHolds.filter((each) => each.channelId === channelId);",
      ],
    ],
  },
  "lists-read-all": {
    told: "a list takes seconds while there are thousands of subscriptions, and thirty people open one",
    ...fuzz(4, 1),
    file: "src/delivery/subscriptions.ts",
    changes: [
      [
        "const index = await subscriptionsByPlace();\n      return [...new Set(places.flatMap((place) => index.get(place) ?? []))];",
        "const all: Subscription[] = []; for await (const [, each] of stored.entries()) all.push(each); return all.filter((each) => placesOf(each).some((place) => places.includes(place)));",
      ],
    ],
    also: [
      {
        file: "src/storage/file-store.ts",
        changes: [
          [
            "lastId = rows.at(-1)?.id ?? lastId;\n        await yieldIfBusy();",
            "lastId = rows.at(-1)?.id ?? lastId;",
          ],
        ],
      },
    ],
  },
  "key-to-another-host": {
    told: "a network's explorer receives the key of another network",
    ...fuzz(2, 1),
    file: "src/config.ts",
    changes: [
      [
        "const isInherited = isFirst && !FOR_NONE.has(name) && !(hasOwnExplorer && isOfExplorer(name));",
        "const isInherited = !FOR_NONE.has(name);",
      ],
    ],
  },
  "unknown-zone": {
    told: "a digest in an unknown time zone keeps every digest from being sent, or the bot from starting",
    ...fuzz(1, 1),
    file: "src/feeds/digest/schedule.ts",
    changes: [
      ["schema: z.string().refine(isZone),", "schema: z.string(),"],
      [
        "throw new RangeError(`A digest is never due",
        "for (;;); throw new RangeError(`A digest is never due",
      ],
    ],
  },
  "registered-once": {
    told: "no commands until a restart, because Discord did not answer at the start",
    ...fuzz(1, 1),
    file: "src/discord/registration.ts",
    changes: [["void firstAttempt.then((isOver) => (isOver ? undefined : goOn()));", "void goOn;"]],
  },
  "limits-before-use": {
    told: "one person has thirty of twenty watches, after thirty commands at the same moment",
    ...fuzz(2, 2),
    file: "src/delivery/limits.ts",
    changes: [
      [
        "[revisions.expect(owner, before), revisions.put(owner, nextRevision), ...writes]",
        "[revisions.put(owner, nextRevision), ...writes]",
      ],
    ],
  },
  "import-in-parts": {
    told: "a killed import leaves a part of the new state and nothing of the old one",
    ...fuzz(3, 1),
    file: "src/storage/file-store.ts",
    changes: [
      [
        'db.exec("BEGIN IMMEDIATE");\n        for (const collection of collectionNames())',
        "for (const collection of collectionNames())",
      ],
      [
        'apply({ op: "put", collection, id, text });\n        db.exec("COMMIT");',
        'apply({ op: "put", collection, id, text });',
      ],
    ],
  },
  "two-restricted": {
    told: "the explorer is said not to accept the key, because two endpoints are restricted",
    ...fuzz(2, 1),
    file: "src/explorer/verdicts.ts",
    changes: [
      [
        "if (isTrial || answered.size === 0 || answered.has(endpoint)) withheld.add(endpoint);",
        "withheld.add(endpoint);",
      ],
      ['(withheld.size > 1 || isTrial) && (await probeKey()) === "refused"', "withheld.size > 1"],
    ],
  },
  "stays-on-replica": {
    told: "nothing is announced after a failover of Redis, because the bot stays connected to the replica",
    program: "soak",
    args: ["1", "1"],
    file: "src/storage/redis.ts",
    changes: [
      ["if (takesNoWrites(error) && client.isReady)", "if (takesNoWrites(error) && !client.isReady)"],
    ],
  },
};
