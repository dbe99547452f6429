import { Routes } from "discord.js";
import { LRUCache } from "lru-cache";
import * as z from "zod";
import { snoozeEnd } from "../../src/delivery/snoozes.js";
import { feedParameter, networkParameter } from "../../src/delivery/watch-buttons.js";
import { type ButtonHandler, handlerOf } from "../../src/discord/buttons.js";
import type { Click } from "../../src/discord/clicks.js";
import { LIMITS } from "../../src/discord/limits.js";
import type { MessagePayload } from "../../src/discord/message.js";
import { goneRoles, guildOf, readerOf, readInTime, readPlace } from "../../src/discord/places.js";
import { isTemporary, problemOf } from "../../src/discord/problems.js";
import type { Network } from "../../src/networks/network.js";
import { buttonAddress, defineButton, subjectParameter } from "../../src/screens/addresses.js";
import type { Link, Menu } from "../../src/screens/view.js";
import { findAmong, type OwnedSubscription, setPaused } from "../../src/subscribe/editor.js";
import { labelOf } from "../../src/subscribe/shown.js";
import { join, type Markdown, md, timestamp } from "../../src/text/markdown.js";
import { perObject } from "../../src/util/per-object.js";
import { PersonError } from "../../src/util/person-error.js";
import { present } from "../../src/util/present.js";
import { singleFlight } from "../../src/util/single-flight.js";
import { MINUTE } from "../../src/util/units.js";
import { endSubscription, resumeSubscription, testSubscription, troubleOf } from "./actions.js";
import { settingFields, settingsInForm } from "./form.js";
import { save } from "./save.js";
import { namesSubjects, subjectField, subjectsIn, typedNames } from "./subjects.js";
import {
  described,
  headline,
  managedServer,
  noLongerThere,
  OPERATORS_OWN,
  PAUSED,
  paragraph,
  servedOf,
  setupButton,
  subjectNameOf,
  subscriptionsIn,
} from "./subscription.js";

const place = {
  /** The channel. */
  c: z.string().max(24),
  feed: feedParameter,
  /** The subject, if it has one. */
  id: subjectParameter.optional(),
  /** The network, if it is not the one of the button. */
  network: networkParameter,
};

/** Shows one subscription of a channel with buttons that change it. */
const openButton = defineButton("sub", place);
/** Opens the dialog for its settings. */
const editButton = defineButton("sub-edit", place);
const changeButton = defineButton("sub-set", { ...place, to: z.enum(["pause", "resume", "test", "remove"]) });

type Place = Readonly<z.infer<z.ZodObject<typeof place>>>;

/** Returns the parameters that find a subscription again. */
const parametersOf = ({ subscription, networkState }: OwnedSubscription, shownBy: Network): Place => ({
  c: subscription.channelId,
  feed: subscription.feed,
  id: subscription.subject ?? undefined,
  network: networkState.id === shownBy.id ? undefined : networkState.id,
});

/** Names of channels by id, for a minute. Without it, people who open the menu together wait for each other at Discord's limit. */
const knownNames = perObject(
  (_: Network["rest"]) => new LRUCache<string, Promise<string | undefined>>({ max: 1_000, ttl: MINUTE }),
);

/** Returns the names of channels by id. A channel that is gone or closed to the bot has none. Empty if Discord does not say. */
async function channelNames(
  all: readonly OwnedSubscription[],
  { rest }: Network,
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(all.map(({ subscription }) => subscription.channelId))];
  const nameOf = async (id: string) =>
    ((await readInTime(rest, Routes.channel(id))) as { readonly name?: string }).name;
  const names = ids.map(async (id) => {
    const name = await singleFlight(knownNames(rest), id, () => nameOf(id), true).catch((error: unknown) =>
      isTemporary(problemOf(error)) ? "" : undefined,
    );
    return name === undefined ? [] : [[id, name] as const];
  });
  return new Map((await Promise.all(names)).flat());
}

/** Returns the menu that opens subscriptions (Discord: 25 choices). */
export async function subscriptionMenu(
  all: readonly OwnedSubscription[],
  shownBy: Network,
  placeholder = "Edit, pause, test or remove…",
): Promise<Menu> {
  const shown = all.slice(0, LIMITS.menuOptions);
  const channels = await channelNames(shown, shownBy);
  const choices = shown.map(async (each) => {
    const { subscription, feed, networkState } = each;
    const subjectName = await subjectNameOf(each, shownBy);
    const channel = channels.get(subscription.channelId);
    const networkLabel = labelOf(networkState, shownBy.networks);
    const name = [feed.name, subjectName].filter(Boolean).join(": ");
    return {
      label: [name, networkLabel].filter(Boolean).join(" · "),
      hint: [channel === undefined ? "a channel that I can't see" : channel && `#${channel}`, networkLabel]
        .filter(Boolean)
        .join(" · "),
      to: buttonAddress(openButton, parametersOf(each, shownBy)),
    };
  });
  return { placeholder, choices: await Promise.all(choices) };
}

/** Asks which of several subscriptions is meant. */
export const whichSubscription = async (
  all: readonly OwnedSubscription[],
  shownBy: Network,
): Promise<MessagePayload> =>
  shownBy.renderer.message({
    title: md`Which subscription?`,
    body: [
      md`Nothing has changed yet. Pick one here, or name it exactly: \`feed:\` and \`subject:\` suggest what there is.`,
    ],
    menus: [await subscriptionMenu(all, shownBy, "Pick one…")],
  });

const setupLink: Link = { label: "Setup", emoji: "⚙️", to: buttonAddress(setupButton, {}) };

/** Lines of a subscription's card that its settings don't contain. */
interface CardLines {
  /** Says what has just been done. */
  readonly note?: Markdown | undefined;
  /** Says what is open now (`FeedDefinition.standing`). */
  readonly standing?: readonly Markdown[] | undefined;
  readonly trouble?: Markdown | undefined;
}

/** Shows one subscription with its buttons. */
async function card(
  each: OwnedSubscription,
  shownBy: Network,
  { note, standing = [], trouble }: CardLines = {},
): Promise<MessagePayload> {
  const { subscription, feed, networkState, network } = each;
  const parameters = parametersOf(each, shownBy);
  const link = (to: "pause" | "resume" | "test" | "remove", label: string, emoji: string): Link => ({
    label,
    emoji,
    to: buttonAddress(changeButton, { ...parameters, to }),
  });
  const isFixed = networkState.subscriptions.isFixed(subscription);
  const { guildId } = subscription;
  const deletedRoles =
    guildId === null ? undefined : await goneRoles(shownBy.rest, guildId, [subscription.roleId]);
  const { paused: isChannelPaused = false, error } = await networkState.subscriptions.health(
    subscription.channelId,
  );
  const isPaused = subscription.isPaused === true || isChannelPaused;
  const snoozedUntil = snoozeEnd(subscription, Date.now());
  const isSnoozed = snoozedUntil > 0;
  const isDone = network !== undefined && (await feed.isDone?.(network.state, subscription)) === true;
  return shownBy.renderer.message({
    title: md`Subscription`,
    body: present([
      ...(note ? [note, md``] : []),
      await headline(each, shownBy),
      ...described(subscription, feed, deletedRoles),
      isPaused && (isChannelPaused && error !== undefined ? md`⏸️ Paused: ${error}.` : PAUSED),
      isSnoozed && md`💤 Snoozed until ${timestamp(snoozedUntil, "f")}.`,
      isDone && standing.length === 0 && md`✅ Done. To get another alert, subscribe to it again.`,
      isFixed && md`${OPERATORS_OWN}`,
      trouble,
      ...paragraph(standing),
    ]),
    links: present([
      network && { label: "Edit", emoji: "✏️", to: buttonAddress(editButton, parameters) },
      network && isPaused && link("resume", "Resume", "▶️"),
      network && !isPaused && isSnoozed && link("resume", "End snooze", "▶️"),
      network && !isPaused && !isFixed && link("pause", "Pause", "⏸️"),
      network && !isPaused && link("test", "Test", "🧪"),
      !isFixed && link("remove", "Remove", "🗑️"),
      setupLink,
    ]),
  });
}

/**
 * Checks the server of a channel. A subscription from the environment does not say it.
 * @throws {PersonError} if the channel is in another server, or says what is wrong if the bot cannot see it
 */
async function checkServer(channelId: string, guildId: string, { rest }: Network): Promise<void> {
  const seenGuildId = await guildOf(rest, channelId).catch(() => undefined);
  if (seenGuildId === undefined) await readPlace(rest, guildId, channelId);
  else if (seenGuildId !== guildId) throw noLongerThere();
}

/** @throws {PersonError} if it is not there any more, or the person may not change it */
async function findSubscription(wanted: Place, click: Click, shownBy: Network) {
  const guildId = managedServer(click);
  const { c, feed, id = null, network = shownBy.id } = wanted;
  const inChannel = await subscriptionsIn(c, guildId, shownBy.networks);
  const found = findAmong(inChannel, { feed, subject: id, network });
  if (!found) throw noLongerThere();
  if (found.subscription.guildId === null) await checkServer(c, guildId, shownBy);
  return { found, guildId };
}

/** The buttons about subscriptions of channels. */
export const subscriptionButtons: readonly ButtonHandler<Network>[] = [
  handlerOf({
    button: openButton,
    audience: "owner",
    async handle(wanted, click, services: Network) {
      const { found, guildId } = await findSubscription(wanted, click, services);
      return card(found, services, { trouble: await troubleOf(click, found, guildId) });
    },
  }),
  handlerOf({
    button: editButton,
    audience: "owner",
    async form(wanted, click, services: Network) {
      const { found } = await findSubscription(wanted, click, services);
      const { subscription, feed, network, networkState } = found;
      const { subject } = subscription;
      const name = await subjectNameOf(found, services);
      const label = labelOf(networkState, services.networks);
      const title = ["Edit", feed.name, label, name].filter(Boolean).join(" · ");
      const fields = settingFields(subscription, feed);
      if (subject !== null && feed.subject?.group)
        fields.unshift(...subjectField(feed, await typedNames(feed, subject, network ?? services)));
      return { title, fields, isEdit: true };
    },
    async handle(wanted, click, services: Network) {
      const { found, guildId } = await findSubscription(wanted, click, services);
      if (!click.isModalSubmit()) return card(found, services);
      const { subscription, feed } = found;
      const place = await readPlace(readerOf(click), guildId, subscription.channelId);
      const given = settingsInForm(click, feed, subscription);
      const served = servedOf(found);
      const [named = null] = namesSubjects(click) ? await subjectsIn(click, feed, served) : [];
      const request = { person: click, services: served, place, feed, given, named, edited: subscription };
      return save(request, [setupLink]);
    },
  }),
  handlerOf({
    button: changeButton,
    audience: "owner",
    async handle({ to, ...wanted }, click, services: Network) {
      const { found, guildId } = await findSubscription(wanted, click, services);
      const { subscription, networkState } = found;
      const readChannel = () => readPlace(readerOf(click), guildId, subscription.channelId);
      const shown = async (note?: Markdown, standing?: readonly Markdown[]) =>
        card((await findSubscription(wanted, click, services)).found, services, { note, standing });
      switch (to) {
        case "remove":
          await endSubscription(found, guildId);
          return services.renderer.message({
            title: md`Subscription removed`,
            tone: "good",
            body: [await headline(found, services)],
            links: [setupLink],
          });
        case "test":
          await testSubscription(click, found, await readChannel());
          return shown(md`🧪 A test announcement is on its way.`);
        case "resume": {
          const channel = await readChannel();
          const { lines, standing } = await resumeSubscription(click, found, channel, services.networks);
          return shown(lines.length > 0 ? join(lines, "\n") : undefined, standing);
        }
        case "pause":
          if (networkState.subscriptions.isFixed(subscription)) throw new PersonError(OPERATORS_OWN);
          await setPaused(networkState, subscription, true);
          return shown();
      }
    },
  }),
];
