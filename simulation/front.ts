import { ComponentType } from "discord.js";
import { createButtons } from "../commands/index.js";
import { overview } from "../commands/setup/overview.js";
import { listSubscriptions } from "../commands/subscribe/list.js";
import { watchList } from "../commands/watch/list.js";
import { type DialogLabel, initialValues } from "../sandbox/discord/interactions.js";
import type { Subscription } from "../src/delivery/collections.js";
import type { Kind } from "../src/directory/directory.js";
import { toChoices } from "../src/discord/autocomplete.js";
import type { Click } from "../src/discord/clicks.js";
import { modalOf } from "../src/discord/forms.js";
import type { MessagePayload } from "../src/discord/message.js";
import { feeds } from "../src/feeds/index.js";
import type { Network } from "../src/networks/network.js";
import type { ScreenAddress } from "../src/screens/addresses.js";
import { openScreen } from "../src/screens/index.js";
import { answerDeps } from "../src/subscribe/editor.js";

/** A person who presses a button in a channel. */
export interface Presser {
  readonly userId: string;
  readonly channelId: string;
  readonly guildId?: string;
}

/** Values that a person gives in a dialog, by field. Other fields stay as they are. */
export type Typed = Readonly<Record<string, string | readonly string[]>>;

/** The parts of one network that people use. */
export interface Front {
  /** Presses a button by its name in custom ids. */
  press(wire: string, parameters: object, by: Presser): Promise<MessagePayload>;
  /** Opens the dialog of a button, and returns the function that submits it. */
  dialog(wire: string, parameters: object, by: Presser): Promise<(typed: Typed) => Promise<MessagePayload>>;
  /** Opens a screen, and returns its embeds as JSON text. */
  open(to: ScreenAddress): Promise<string>;
  /** Returns a page of `/subscribe list`, `/setup` of a server, and `/watch list` of a person, as JSON text. */
  lists(
    guildId: string,
    userId: string,
    page: number,
  ): Promise<Readonly<Record<"subscriptions" | "setup" | "watches", string>>>;
  /**
   * Returns a drill of one of all subscriptions, as JSON text, and what is said about its subject when it is saved.
   */
  drill(
    choose: (subscriptions: readonly Subscription[]) => Subscription,
  ): Promise<Readonly<Record<"about" | "drill" | "standing", string>>>;
  /** Returns the labels that are suggested for a typed text. */
  complete(kind: Kind, typed: string): Promise<readonly string[]>;
}

/** Fills in a field of a dialog, as discord.js parses it. */
function filled({ component }: DialogLabel, typed: Typed) {
  const { custom_id: customId, type } = component;
  const given = typed[customId.split("~")[0] ?? ""] ?? initialValues(component);
  const values = typeof given === "string" ? [given] : [...given];
  const isSingle = type === ComponentType.TextInput || type === ComponentType.RadioGroup;
  return {
    type: ComponentType.Label,
    component: isSingle ? { type, customId, value: values[0] ?? "" } : { type, customId, values },
  };
}

/** Creates the front of a network: the real buttons, dialogs, lists and screens, without Discord's gateway. */
export function createFront(network: Network, botId: string): Front {
  /** Returns the parts of a click that buttons and dialogs use. @param components the fields of a submitted dialog */
  const clickOf = ({ userId, channelId, guildId }: Presser, components?: readonly object[]): Click => {
    const click = {
      channelId,
      guildId,
      user: { id: userId, displayName: `Person ${userId}` },
      client: { user: { id: botId }, rest: network.rest },
      member: null,
      memberPermissions: { has: () => true },
      isModalSubmit: () => components !== undefined,
      isStringSelectMenu: () => false,
      components,
    };
    return click as unknown as Click;
  };
  const handlers = new Map(createButtons(feeds).map((each) => [each.button.wire, each]));
  const handlerOf = (wire: string) => {
    const handler = handlers.get(wire);
    if (!handler) throw new RangeError(`There is no button ${wire}`);
    return handler;
  };
  const textOf = ({ embeds, content }: MessagePayload) => `${content ?? ""} ${JSON.stringify(embeds)}`;

  return {
    press: (wire, parameters, by) => handlerOf(wire).handle(parameters, clickOf(by), network),

    async dialog(wire, parameters, by) {
      const { form, handle } = handlerOf(wire);
      if (!form) throw new RangeError(`The button ${wire} opens no dialog`);
      const dialog = modalOf(wire, await form(parameters, clickOf(by), network));
      const labels = dialog.components as readonly DialogLabel[];
      return (typed) => {
        const fields = labels.map((label) => filled(label, typed));
        return handle(parameters, clickOf(by, fields), network);
      };
    },

    async open(to) {
      const { explorer, renderer, screens } = network;
      const visitor = explorer.for({ person: "visitor" });
      const { view } = await openScreen(to, { ...screens, explorer: visitor, commands: () => [] });
      return JSON.stringify(renderer.message(view).embeds);
    },

    async lists(guildId, userId, page) {
      const list = { guildId, options: { getString: () => null, getInteger: () => page } };
      const subscriptions = await listSubscriptions(list as never, network);
      const setup = await overview(guildId, network);
      const watches = await watchList(userId, network, {});
      return { subscriptions: textOf(subscriptions), setup: textOf(setup), watches: textOf(watches) };
    },

    async drill(choose) {
      const subscription = choose(await network.subscriptions.all());
      const feed = network.networks.feeds.find(({ name }) => name === subscription.feed);
      if (!feed) throw new RangeError(`There is no feed ${subscription.feed}`);
      const deps = answerDeps({ user: { id: "visitor" } }, network);
      const view = await feed.sample(deps, subscription, "drill");
      const standing = await feed.standing(deps, subscription);
      return {
        about: `${feed.name} ${subscription.subject ?? ""}`,
        drill: textOf(network.renderer.message(view)),
        standing: standing.map(String).join("\n"),
      };
    },

    async complete(kind, typed) {
      const { directory, names, links, renderer, screens } = network;
      const intervals = await screens.rhythms.intervals();
      return toChoices([kind], typed, { directory, names, links, renderer, intervals }).map(
        ({ name }) => name,
      );
    },
  };
}
