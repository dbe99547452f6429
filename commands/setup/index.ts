import { draftOf, type FeedDefinition } from "../../src/delivery/feed.js";
import { subscribeHereButton } from "../../src/delivery/watch-buttons.js";
import { type ButtonHandler, handlerOf } from "../../src/discord/buttons.js";
import type { Click } from "../../src/discord/clicks.js";
import { type ActingCommand, commandForManagers, OTHER_VERSION } from "../../src/discord/command.js";
import { answersOf, type Form, type FormField } from "../../src/discord/forms.js";
import type { MessagePayload } from "../../src/discord/message.js";
import { readerOf, readPlace } from "../../src/discord/places.js";
import { serverOf } from "../../src/discord/say.js";
import type { Network } from "../../src/networks/network.js";
import { restWords } from "../../src/subscribe/shown.js";
import { type Markdown, md } from "../../src/text/markdown.js";
import { countedWords } from "../../src/text/numbers.js";
import { PersonError } from "../../src/util/person-error.js";
import { testSubscription } from "../subscribe/actions.js";
import { CHANNELS, settingFields, settingsInForm } from "../subscribe/form.js";
import { saveUntilKept } from "../subscribe/save.js";
import { subjectField, subjectsIn, typedNames } from "../subscribe/subjects.js";
import { headline, managedServer, serverSubscriptions, setupButton } from "../subscribe/subscription.js";
import { addButton, overview, testAllButton } from "./overview.js";

/** /setup shows everything that a server has set up. */
export const setup: ActingCommand<Network> = {
  definition: commandForManagers(
    "setup",
    "See, add and change everything that's set up in this server",
  ).toJSON(),
  group: "This bot",
  run: (interaction, services) => overview(serverOf(interaction), services),
};

const CHANNEL = "channel";

/**
 * Returns the dialog that adds a subscription. What must be answered comes first.
 * @param id a subject that is filled in
 * @throws {PersonError} if the person may not manage the server
 */
async function addForm(feedName: string, click: Click, services: Network, id?: string): Promise<Form> {
  managedServer(click);
  const feed = feedOf(feedName, services);
  const subjects = id === undefined ? "" : await typedNames(feed, id, services);
  const settings = settingFields(draftOf(feed), feed);
  const isRequired = ({ name }: FormField) => feed.options[name]?.isRequired === true;
  const chosen = click.channelId ?? "";
  const fields: FormField[] = [
    { name: CHANNEL, label: "Channel", kind: "channel", chosen, types: CHANNELS },
    ...subjectField(feed, subjects),
    ...settings.filter(isRequired),
    ...settings.filter((each) => !isRequired(each)),
  ];
  return { title: `Add ${feed.name}`, fields };
}

/** Saves the subscriptions that a dialog asks for. Returns the result in lines. @throws {PersonError} */
async function add(click: Click, feed: FeedDefinition, services: Network): Promise<readonly Markdown[]> {
  if (!click.isModalSubmit()) throw new PersonError(OTHER_VERSION);
  const guildId = managedServer(click);
  const channelId = answersOf(click).get(CHANNEL)?.[0];
  if (channelId === undefined) throw new PersonError("Pick a channel, and try again.");
  const place = await readPlace(readerOf(click), guildId, channelId);
  const given = settingsInForm(click, feed, draftOf(feed));
  const subjects = feed.subject?.option ? await subjectsIn(click, feed, services) : [null];
  const lines: Markdown[] = [];
  for (const named of subjects) {
    try {
      const answer = await saveUntilKept({ person: click, services, place, feed, given, named, isNew: true });
      lines.push(md`✅ ${answer.title}: ${answer.headline}`);
      // The answers about many would not fit.
      if (subjects.length === 1) lines.push(...answer.standing);
    } catch (error) {
      if (!(error instanceof PersonError) || lines.length === 0) throw error;
      throw new PersonError(`${lines.length} of ${subjects.length} were added. ${error.message}`);
    }
  }
  return lines;
}

/** Requests a test announcement of each of a server's subscriptions. Returns the result in lines. */
async function testAll(click: Click, services: Network): Promise<readonly Markdown[]> {
  const guildId = managedServer(click);
  const lines: Markdown[] = [];
  let count = 0;
  for (const each of await serverSubscriptions(guildId, services)) {
    try {
      const place = await readPlace(readerOf(click), guildId, each.subscription.channelId);
      await testSubscription(click, each, place);
      count += 1;
    } catch (error) {
      if (!(error instanceof PersonError)) {
        if (count === 0) throw error;
        // The answer must not hide the tests that are on the way.
        lines.push(
          md`⚠️ The others weren't tested: Discord or my storage didn't answer. Try again in a minute.`,
        );
        break;
      }
      const { subscription, networkState, network } = each;
      const summary = await headline(each, services);
      const health = await networkState.subscriptions.health(subscription.channelId);
      const isPaused = subscription.isPaused || health.paused;
      if (!network) lines.push(md`${summary}: ${restWords(each, health)}`);
      else if (isPaused) lines.push(md`⏸️ ${summary} is paused. Pick it below and press Resume.`);
      else lines.push(md`⚠️ Can't test ${summary}. Pick it below and press Test to see why.`);
    }
  }
  return [md`🧪 ${countedWords(count, "test announcement")} on the way`, ...lines];
}

/** @throws {PersonError} if this version has no such feed */
function feedOf(name: string, { networks }: Network): FeedDefinition {
  const feed = networks.feeds.find((each) => each.name === name);
  if (!feed) throw new PersonError(OTHER_VERSION);
  return feed;
}

async function addAndShow(feed: string, click: Click, services: Network): Promise<MessagePayload> {
  const guildId = managedServer(click);
  // The overview needs it, too. If Discord does not answer, this fails before something is saved.
  await serverSubscriptions(guildId, services);
  return overview(guildId, services, { news: await add(click, feedOf(feed, services), services) });
}

/** The buttons and the menu of /setup. */
export const setupButtons: readonly ButtonHandler<Network>[] = [
  handlerOf({
    button: subscribeHereButton,
    audience: "person",
    form: ({ feed, id }, click, services: Network) => addForm(feed, click, services, id),
    handle: ({ feed }, click, services: Network) => addAndShow(feed, click, services),
  }),
  handlerOf({
    button: setupButton,
    audience: "owner",
    handle: async (page, click, services: Network) => overview(managedServer(click), services, page),
  }),
  handlerOf({
    button: addButton,
    audience: "owner",
    form: ({ feed }, click, services: Network) => addForm(feed, click, services),
    handle: ({ feed }, click, services: Network) => addAndShow(feed, click, services),
  }),
  handlerOf({
    button: testAllButton,
    audience: "owner",
    handle: async (_, click, services: Network) =>
      overview(managedServer(click), services, { news: await testAll(click, services) }),
  }),
];
