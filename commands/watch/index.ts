import type { SlashCommandSubcommandBuilder } from "@discordjs/builders";
import type { AutocompleteInteraction, ChatInputCommandInteraction } from "discord.js";
import type { Subscription } from "../../src/delivery/collections.js";
import type { FeedDefinition } from "../../src/delivery/feed.js";
import { matchingChoices, type OfferedChoice } from "../../src/discord/autocomplete.js";
import {
  type ActingCommand,
  commandEverywhere,
  NETWORK_OPTION,
  OTHER_VERSION,
} from "../../src/discord/command.js";
import type { MessagePayload } from "../../src/discord/message.js";
import { say } from "../../src/discord/say.js";
import type { NetworkChoices } from "../../src/networks/choices.js";
import type { Network } from "../../src/networks/network.js";
import { drillSubscription, matchingNames } from "../../src/subscribe/editor.js";
import { md } from "../../src/text/markdown.js";
import { countedWords } from "../../src/text/numbers.js";
import { unbroken } from "../../src/text/plain.js";
import { PersonError } from "../../src/util/person-error.js";
import { present } from "../../src/util/present.js";
import { subcommand } from "../options.js";
import { chosenSettings, namedSubject, settingsIn } from "../subscribe/choice.js";
import { suggestionsOf } from "../subscribe/index.js";
import { addRequired, addSettings } from "../subscribe/options.js";
import { watchList } from "./list.js";
import {
  forget,
  nothingListed,
  settingsFor,
  startWatch,
  titleOfWatch,
  type Watch,
  type Watchable,
  watchables,
  watchesOf,
} from "./watches.js";

/** Name of the option that selects a watch. */
const WATCH_OPTION = "watch";

function subcommandOf({ feed, watch }: Watchable): SlashCommandSubcommandBuilder {
  const builder = subcommand(watch.name, watch.description);
  addRequired(builder, watch.subject, watch.settings ? {} : feed.options);
  return watch.settings ? builder : addSettings(builder, [feed], true);
}

/** Returns a key that is unique among a person's watches. */
const keyOf = ({ feed, subscription: { subject }, network }: Watch): string =>
  present([network?.label ? network.id : undefined, feed.name, subject]).join("/");

/** Creates /watch, with which people get private alerts. */
export function createWatch(
  feeds: readonly FeedDefinition[],
  choices: NetworkChoices,
): ActingCommand<Network> {
  const allWatchables = watchables(feeds);
  const builder = commandEverywhere("watch", "Get private alerts by direct message");
  for (const each of allWatchables) builder.addSubcommand(subcommandOf(each));
  builder
    .addSubcommand(subcommand("list", "Your private alerts: see, pause or remove them"))
    .addSubcommand(
      subcommand("test", "Send yourself a test alert").addStringOption((option) =>
        option
          .setName(WATCH_OPTION)
          .setDescription("Which watch (default: the newest)")
          .setAutocomplete(true),
      ),
    )
    .addSubcommand(subcommand("forget", "End all your watches and delete your data"));

  const startFromOptions = async (
    interaction: ChatInputCommandInteraction,
    services: Network,
    watchable: Watchable,
  ): Promise<MessagePayload> => {
    const { feed, watch } = watchable;
    // Settings without an option in the command stay as they are.
    const settingsOf = (existing: Partial<Subscription> = settingsFor(watchable)) =>
      watch.settings ? settingsFor(watchable) : chosenSettings(settingsIn(interaction), feed, existing);
    const named = await namedSubject(interaction, watch.subject, services);
    const subject = named ?? watch.subject.of?.(settingsOf()) ?? "";
    return startWatch(interaction, services, { watchable, subject, settingsOf });
  };

  /** Returns the person's watches on all served networks, or on the one in the network option. */
  const servedWatches = async (
    interaction: ChatInputCommandInteraction | AutocompleteInteraction,
    { networks }: Network,
  ) => {
    const wantedNetwork = interaction.options.get(NETWORK_OPTION)?.value;
    const ownWatches = await watchesOf(interaction.user.id, networks);
    return ownWatches.filter(
      ({ network }) => network && (wantedNetwork === undefined || network.id === wantedNetwork),
    );
  };

  const test = async (interaction: ChatInputCommandInteraction, services: Network) => {
    const ownWatches = await servedWatches(interaction, services);
    const typedWatch = interaction.options.getString(WATCH_OPTION);
    const namesOf = async (each: Watch) => ({
      id: keyOf(each),
      name: (await titleOfWatch(each, services)).toString(),
    });
    const matching =
      typedWatch === null
        ? ownWatches.slice(-1)
        : (await matchingNames(ownWatches, typedWatch, services.links, namesOf)).items;
    const [chosenWatch, ...others] = matching;
    if (ownWatches.length === 0) {
      const everything = await watchesOf(interaction.user.id, services.networks);
      throw new PersonError(nothingListed(everything.length, allWatchables).toString());
    }
    if (!chosenWatch) throw new PersonError("Can't find that watch. `/watch list` shows yours.");
    if (others.length > 0)
      throw new PersonError("That matches several of your watches. Pick one of the suggestions as you type.");
    const { network = services } = chosenWatch;
    await drillSubscription(
      interaction,
      chosenWatch,
      network,
      "This watch is paused. Resume it in `/watch list`, then try again.",
    );
    const isUnchosen = typedWatch === null && ownWatches.length > 1;
    return say(
      network,
      md`A test alert is on its way`,
      present([
        md`${await titleOfWatch(chosenWatch, services)}`,
        isUnchosen &&
          md`-# It's the newest of your ${ownWatches.length} watches. Pick another with \`${WATCH_OPTION}:\`.`,
      ]),
    );
  };

  const complete = async (
    interaction: AutocompleteInteraction,
    services: Network,
  ): Promise<OfferedChoice[]> => {
    const ownWatches = await servedWatches(interaction, services);
    const choices = ownWatches.map(async (each) => ({
      name: (each.network ?? services).renderer.title(unbroken(await titleOfWatch(each, services))),
      value: services.links.choiceValue(keyOf(each)),
    }));
    return matchingChoices(await Promise.all(choices), interaction.options.getFocused());
  };

  return {
    definition: builder.toJSON(),
    group: "This bot",
    ofAllNetworks: ["forget"],
    suggests: suggestionsOf(allWatchables.map(({ watch }) => watch.subject)),
    complete,
    async run(interaction, services) {
      const name = interaction.options.getSubcommand();
      const watchable = allWatchables.find(({ watch }) => watch.name === name);
      if (watchable) return startFromOptions(interaction, services, watchable);
      if (name === "list")
        return watchList(interaction.user.id, services, {
          only: interaction.options.getString(NETWORK_OPTION) ?? undefined,
        });
      if (name === "test") return test(interaction, services);
      if (name !== "forget") throw new PersonError(OTHER_VERSION);
      const count = await forget(interaction.user.id, services.networks, choices);
      return say(services.networks.served[0], md`Your data is deleted`, [
        md`${countedWords(count, "watch", "watches")} removed. I no longer keep any data about you.`,
      ]);
    },
  };
}
