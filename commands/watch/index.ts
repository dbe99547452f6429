import { SlashCommandBuilder, SlashCommandSubcommandBuilder } from "@discordjs/builders";
import type { AutocompleteInteraction, ChatInputCommandInteraction } from "discord.js";
import { ApplicationIntegrationType, InteractionContextType } from "discord-api-types/v10";
import { requestDrill } from "../../src/delivery/drill.js";
import type { FeedDefinition } from "../../src/delivery/feed.js";
import type { OfferedChoice } from "../../src/discord/autocomplete.js";
import { type ActingCommand, NETWORK_OPTION, OTHER_VERSION } from "../../src/discord/command.js";
import type { MessagePayload } from "../../src/discord/message.js";
import type { NetworkChoices } from "../../src/networks/choices.js";
import type { Network } from "../../src/networks/network.js";
import { readId } from "../../src/text/ids.js";
import { counted, md } from "../../src/text/markdown.js";
import { clean } from "../../src/text/plain.js";
import { PersonError } from "../../src/util/person-error.js";
import { chosenSettings, chosenSubject } from "../subscribe/choice.js";
import { answerDeps, say } from "../subscribe/handlers.js";
import { suggestionsOf } from "../subscribe/index.js";
import { addRequired, addSettings } from "../subscribe/options.js";
import { watchList } from "./list.js";
import {
  forget,
  settingsFor,
  startWatch,
  titleOf,
  type Watch,
  type Watchable,
  watchables,
  watchesOf,
} from "./watches.js";

/** The option that says which watch is meant. */
const WATCH_OPTION = "watch";

function subcommandOf({ feed, watch }: Watchable): SlashCommandSubcommandBuilder {
  const builder = new SlashCommandSubcommandBuilder().setName(watch.name).setDescription(watch.description);
  addRequired(builder, watch.subject, watch.settings ? {} : feed.options);
  return watch.settings ? builder : addSettings(builder, [feed], true);
}

/** A watch by what it is of, unique among a person's. */
const keyOf = ({ feed, subscription: { subject }, network }: Watch): string =>
  [...(network?.label ? [network.id] : []), feed.name, subject].join("/");

/** /watch: what somebody is told of in private. */
export function createWatch(
  feeds: readonly FeedDefinition[],
  choices: NetworkChoices,
): ActingCommand<Network> {
  const all = watchables(feeds);
  const builder = new SlashCommandBuilder()
    .setName("watch")
    .setDescription("Be told in private: of a validator, the price, a vote request, a vote not cast")
    .setIntegrationTypes(ApplicationIntegrationType.GuildInstall, ApplicationIntegrationType.UserInstall)
    .setContexts(
      InteractionContextType.Guild,
      InteractionContextType.BotDM,
      InteractionContextType.PrivateChannel,
    );
  for (const each of all) builder.addSubcommand(subcommandOf(each));
  builder
    .addSubcommand((sub) => sub.setName("list").setDescription("What you watch: pause, change or remove it"))
    .addSubcommand((sub) =>
      sub
        .setName("test")
        .setDescription("Send yourself a drill: an alert as it would be")
        .addStringOption((option) =>
          option.setName(WATCH_OPTION).setDescription("Of which watch (the newest)").setAutocomplete(true),
        ),
    )
    .addSubcommand((sub) =>
      sub.setName("forget").setDescription("End all you watch, and delete what I know of you"),
    );

  const start = async (
    interaction: ChatInputCommandInteraction,
    services: Network,
    watchable: Watchable,
  ): Promise<MessagePayload> => {
    const { feed, watch } = watchable;
    const typed = watch.settings
      ? settingsFor(watchable)
      : chosenSettings(interaction, feed, settingsFor(watchable));
    const subject = (await chosenSubject(interaction, watch.subject, typed, services)) ?? "";
    const own = await watchesOf(interaction.user.id, services.networks, all);
    const before = own.find(
      (each) => each.network === services && each.feed === feed && each.subscription.subject === subject,
    );
    // What is not named stays as it is.
    const settings =
      before && !watch.settings ? chosenSettings(interaction, feed, before.subscription) : typed;
    return startWatch(interaction, services, all, watchable, settings, subject);
  };

  /** What they watch on networks that are served: on one alone, where they name it. */
  const servedWatches = async (
    interaction: ChatInputCommandInteraction | AutocompleteInteraction,
    { networks }: Network,
  ) => {
    const on = interaction.options.get(NETWORK_OPTION)?.value;
    const own = await watchesOf(interaction.user.id, networks, all);
    return own.filter(({ network }) => network && (on === undefined || network.id === on));
  };

  const test = async (interaction: ChatInputCommandInteraction, services: Network) => {
    const own = await servedWatches(interaction, services);
    const typed = interaction.options.getString(WATCH_OPTION);
    const key = typed === null ? null : readId((await services.links.readChoice(typed)) ?? typed);
    const chosen = key === null ? own.at(-1) : own.find((each) => keyOf(each) === key);
    if (!chosen)
      throw new PersonError(
        own.length === 0
          ? "You watch nothing yet. Start with `/watch validator`, `/watch price`, `/watch proposal` or `/watch voter`."
          : "You watch nothing like that. `/watch list` shows what you watch.",
      );
    const { subscription, feed, network = services } = chosen;
    const { paused } = await network.subscriptions.health(subscription.channelId);
    if (paused) throw new PersonError("What you watch is paused: resume it in `/watch list`.");
    const deps = answerDeps(interaction, network);
    await requestDrill(network.state, network.renderer, subscription, (mark) =>
      feed.sample(deps, subscription, mark),
    );
    return say(network, md`A drill is on its way`, [md`${titleOf(chosen, network)}`]);
  };

  const complete = async (
    interaction: AutocompleteInteraction,
    services: Network,
  ): Promise<OfferedChoice[]> => {
    const typed = interaction.options.getFocused().toLowerCase();
    const own = await servedWatches(interaction, services);
    return own
      .map((each) => ({
        name: (each.network ?? services).renderer.title(clean(titleOf(each, each.network ?? services))),
        value: services.links.choiceValue(keyOf(each)),
      }))
      .filter(({ name }) => name.toLowerCase().includes(typed));
  };

  return {
    definition: builder.toJSON(),
    group: "This bot",
    ofAllNetworks: ["forget"],
    suggests: suggestionsOf(all.map(({ watch }) => watch.subject)),
    complete,
    async run(interaction, services) {
      const name = interaction.options.getSubcommand();
      const watchable = all.find(({ watch }) => watch.name === name);
      if (watchable) return start(interaction, services, watchable);
      if (name === "list")
        return watchList(interaction.user.id, services, all, {
          only: interaction.options.getString(NETWORK_OPTION) ?? undefined,
        });
      if (name === "test") return test(interaction, services);
      if (name !== "forget") throw new PersonError(OTHER_VERSION);
      const count = await forget(interaction.user.id, services.networks, choices);
      return say(services.networks.served[0], md`Forgotten`, [
        md`${counted(count, "watch", "watches")} ended. I keep nothing of you any more.`,
      ]);
    },
  };
}
