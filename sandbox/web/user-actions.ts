import type { Interaction } from "../discord/interactions.js";
import { createMessage, deleteMessage, findMessage } from "../discord/messages.js";
import { PERMISSION } from "../discord/permissions.js";
import { deleteScheduledEvent } from "../discord/scheduled-events.js";
import type { Channel, User, World } from "../discord/world.js";
import { titleInWords } from "../explorer/actions.js";
import type { SandboxExplorer } from "../explorer/server.js";
import type { Stack } from "../stack.js";
import type { Deed, ExplorerMood, Outcome, Turn } from "./snapshot.js";

/** Timeout for the bot's answer, in ms. Discord gives up after 3 s, and the answer needs time to arrive. */
const ANSWER_MS = 3_500;
const HOUR = 3_600_000;

/** Waits until the bot has answered in any way. Returns Discord's error message if it has not. */
async function settled(place: Stack, interaction: Interaction): Promise<Outcome> {
  const { world } = place.discord;
  try {
    await world.until(() => interaction.answered !== undefined, "an answer", ANSWER_MS);
  } catch {
    return { error: "The application did not respond" };
  }
  if (interaction.choices) return { choices: interaction.choices };
  return interaction.dialog ? { dialog: interaction.dialog } : {};
}

/** Performs a person's action in a channel. */
export async function act(place: Stack, user: User, channel: Channel, deed: Deed): Promise<Outcome> {
  const { world, driver } = place.discord;
  const here = { user, channel };
  const messageAt = (id: string) => findMessage(world, channel.id, id);
  switch (deed.do) {
    case "say":
      createMessage(
        world,
        channel,
        { content: deed.text, allowed_mentions: { parse: [] } },
        { author: user },
      );
      return {};
    case "command":
      return settled(place, driver.type(here, deed.command, deed.given));
    case "complete":
      return { choices: await driver.complete(here, deed.command, deed.focused, deed.given) };
    case "press":
      return settled(place, driver.press(here, messageAt(deed.message), deed.customId));
    case "pick":
      return settled(place, driver.pick(here, messageAt(deed.message), deed.customId, deed.value));
    case "submit": {
      const opened = { dialog: deed.dialog, source: messageAt(deed.message) };
      return settled(place, driver.fill(here, opened, deed.values));
    }
    case "dismiss": {
      const message = messageAt(deed.message);
      if (message.visibleTo === user.id) deleteMessage(world, message);
      return {};
    }
  }
}

/** Dependencies of actions on the world, apart from the stack. */
export interface Levers {
  runBot(run: boolean): Promise<void>;
  setExplorer(explorer: SandboxExplorer, mood: ExplorerMood): void;
}

/** Allows or forbids the bot to write in a channel. */
function permit(world: World, channelId: string, on: boolean): void {
  const channel = world.channel(channelId);
  channel.permission_overwrites = channel.permission_overwrites.filter(({ id }) => id !== world.bot.id);
  const deny = String(PERMISSION.sendMessages | PERMISSION.sendInThreads);
  if (!on) channel.permission_overwrites.push({ id: world.bot.id, type: 1, allow: "0", deny });
}

const OUTCOMES = ["Accepted", "Implemented", "Rejected", "Expired"] as const;

/**
 * Performs an action on the world around the bot: on one network's ledger and explorer, or on shared parts.
 */
export async function turn(
  place: Stack,
  explorer: SandboxExplorer,
  levers: Levers,
  wish: Turn,
): Promise<Outcome> {
  const { ledger } = explorer;
  const found = (id: string) => {
    const request = ledger.findRequest(id);
    if (!request) throw new RangeError("There is no such vote request");
    return request;
  };
  switch (wish.do) {
    case "open":
      ledger.openVoteRequest({
        motion: wish.motion,
        ...(wish.title ? { title: wish.title } : {}),
        lastsMs: wish.hours * HOUR,
        effectiveInMs: null,
      });
      break;
    case "vote":
      if (!ledger.castVote(found(wish.id), wish.accept))
        return { error: "It is closed, or everybody has voted" };
      break;
    case "close": {
      const status = OUTCOMES.find((each) => each === wish.status);
      if (status) ledger.decideVoteRequest(found(wish.id), status);
      break;
    }
    case "postpone":
      found(wish.id).voteBefore += 24 * HOUR;
      break;
    case "rename": {
      const request = found(wish.id);
      request.title = `${titleInWords(request.title)} (revised)`;
      break;
    }
    case "permit":
      permit(place.discord.world, wish.channel, wish.on);
      break;
    case "delete-channel":
      place.discord.world.deleteChannel(wish.channel);
      break;
    case "moves":
      ledger.moves = wish.on;
      break;
    case "validator": {
      const validator = ledger.validators.find(({ party }) => party.id === wish.id);
      if (validator) ledger.setValidatorActive(validator, wish.active);
      break;
    }
    case "reports":
      ledger.reports = wish.on;
      break;
    case "rounds":
      ledger.rounds = wish.on;
      break;
    case "version":
      ledger.spreadVersion();
      break;
    case "traffic": {
      const validator = ledger.validators.find(({ party }) => party.id === wish.id);
      if (validator) ledger.drainTraffic(validator);
      break;
    }
    case "price":
      ledger.setPrice(ledger.price * (1 + wish.percent / 100));
      break;
    case "forget-refusals":
      place.discord.world.refusals.splice(0);
      break;
    case "uncalendar":
      deleteScheduledEvent(place.discord.world, place.discord.guild, wish.id);
      break;
    case "pass":
      place.pass(wish.hours * HOUR);
      break;
    case "explorer":
      levers.setExplorer(explorer, wish.mood);
      break;
    case "bot":
      await levers.runBot(wish.run);
      break;
  }
  place.discord.world.changed();
  return {};
}
