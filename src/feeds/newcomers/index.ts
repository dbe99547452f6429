import * as z from "zod";
import { progress } from "../../delivery/collections.js";
import type { Feed, FeedDefinition } from "../../delivery/feed.js";
import type { FeedModule } from "../../delivery/module.js";
import { ifAnswered } from "../../explorer/errors.js";
import { type ValidatorSummary, validatorSummary } from "../../explorer/schema/validators.js";
import { NEWCOMERS } from "../../screens/validators.js";
import { md, timestamp, withoutEscapes } from "../../text/markdown.js";
import { digest } from "../../util/digest.js";
import { knownValidators } from "./collections.js";
import { joinedView, madeUp, newsOf } from "./messages.js";
import { createNewcomersWatch, PROGRESS } from "./watch.js";

/** Number of validators in a sample. */
const SAMPLED = 2;

const definition: FeedDefinition = {
  name: "newcomers",
  description: "Announce new validators in a channel",
  thing: "group of newcomers",
  topics: {
    joined: {
      description: "New validators",
      byDefault: true,
      isFixed: true,
      words: () => "new validators",
    },
  },
  options: {},
  threads: false,
  tagName: /validator|newcomer|node/i,

  async sample({ explorer }, _, mark) {
    const newestValidators =
      (await ifAnswered(explorer.newValidators({ size: NEWCOMERS })))?.data.slice(0, SAMPLED) ?? [];
    return joinedView(newestValidators.length > 0 ? newestValidators : [madeUp], mark);
  },

  standing: async () => [md`Validators that are already on the network aren't announced.`],

  async lastRead(state) {
    const lastProgress = await state.open(progress).get(PROGRESS);
    return lastProgress
      ? md`New validators were last checked ${timestamp(lastProgress.completeAt)}.`
      : undefined;
  },
};

/** All validators that joined between two readings. */
const newcomersEventSchema = z.object({ validators: z.array(validatorSummary) });
type NewcomersEvent = { readonly validators: readonly ValidatorSummary[] };

/** Announces validators that join. */
export const newcomers: FeedModule = {
  definition,
  collections: [knownValidators],
  pollMs: ({ watchPollSeconds }) => watchPollSeconds * 1_000,

  create(deps) {
    const { renderer } = deps;
    const feed: Feed<NewcomersEvent> = {
      definition,
      readEvent: (json) => newcomersEventSchema.safeParse(json).data,
      idOf: ({ validators }) => digest(validators.map(({ validator }) => validator).join()),
      topicOf: () => "joined",
      // There are no later events about them.
      subjectsOf: () => [],
      begins: () => true,
      wants: () => true,
      render: async ({ validators }, mark) => ({
        payload: renderer.message(joinedView(validators, mark)),
        title: withoutEscapes(newsOf(validators)),
        revision: 0,
      }),
    };
    const explorer = deps.explorer.for("background", { maxAgeMs: 0 });
    return { feed, poll: createNewcomersWatch({ ...deps, explorer }) };
  },
};
