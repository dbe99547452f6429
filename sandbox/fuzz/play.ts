import type { Place } from "../discord/driver.js";
import type { SandboxDiscord } from "../discord/server.js";
import type { Random } from "../explorer/random.js";
import type { SandboxExplorer } from "../explorer/server.js";
import { readingCommands } from "../reading-commands.js";
import { createCommunity, type Move } from "./community.js";
import { typedBy } from "./hostile-answers.js";

/** Creates random valid and forged interactions by many people. */
export function createPlay(
  discord: SandboxDiscord,
  { ledger }: SandboxExplorer,
  random: Random,
): { move: Move; ledgerMoves(): void } {
  const { driver, world, guild, people, channels } = discord;
  const commands = readingCommands(ledger, random);
  const crowd = Array.from({ length: 200 }, (_, at) => {
    const user = world.addUser(`Fuzzer ${at}`);
    guild.members.set(user.id, []);
    return user;
  });
  const somebody = (): Place => ({ user: random.pick(crowd), channel: channels.general });
  const recent = () => {
    const messages = (world.messages.get(channels.general.id) ?? []).slice(-40);
    const message = messages.length > 0 ? random.pick(messages) : undefined;
    const user = message?.visibleTo === undefined ? undefined : world.users.get(message.visibleTo);
    return message && { message, who: user ? { ...somebody(), user } : somebody() };
  };

  const ask: Move = () => {
    const [command, given] = random.pick(commands);
    return [driver.type(somebody(), command, given())];
  };
  const askWithAnything: Move = () => {
    const [command, given] = random.pick(commands);
    const spoilt = Object.entries(given()).map(([name, value]) => [
      name,
      ["over", "status"].includes(name) ? value : typedBy(random).slice(0, 600) || "?",
    ]);
    return [driver.type(somebody(), command, Object.fromEntries(spoilt))];
  };
  const askTogether: Move = () => {
    const [command, given] = random.pick(commands);
    const same = given();
    return Array.from({ length: 40 }, () => driver.type(somebody(), command, same));
  };
  const click: Move = () => {
    const found = recent();
    const components = found ? driver.clickable(found.message) : [];
    if (!found || components.length === 0) return [];
    const { type, custom_id: id = "", options = [{ value: "" }] } = random.pick(components);
    const { who, message } = found;
    return type === 3
      ? [driver.pick(who, message, id, random.pick(options).value)]
      : [driver.press(who, message, id)];
  };
  /** Sends an interaction with an id or a value that is in no message of the bot. */
  const forge: Move = () => {
    const found = recent();
    if (!found) return [];
    const ids = driver.components(found.message).map(({ custom_id: id = "" }) => id);
    const own = ids.length > 0 ? random.pick(ids) : "";
    const at = random.int(0, own.length);
    const id = random.chance(0.5)
      ? typedBy(random).slice(0, 100)
      : `${own.slice(0, at)}${typedBy(random)}${own.slice(at + 1)}`.slice(0, 100);
    const value = random.chance(0.5) ? id.slice(1) : typedBy(random).slice(0, 100);
    return [driver.pick(found.who, found.message, id || "?", value || "?")];
  };
  const complete: Move = () => {
    const option = random.pick([
      ["/party show", "party"],
      ["/validator show", "validator"],
      ["/proposals show", "proposal"],
    ] as const);
    const text = typedBy(random);
    void driver.complete(somebody(), option[0], option[1], { [option[1]]: text }).catch(() => {});
    return [];
  };
  const subscribe: Move = () => {
    const owner = { user: people.owner, channel: channels.general };
    const command = random.pick(["/subscribe governance", "/subscribe list", "/subscribe test"]);
    return [driver.type(owner, command, command.endsWith("list") ? {} : { channel: channels.governance.id })];
  };

  const communityMoves = createCommunity(discord, ledger, random, somebody);
  const inCommunity: Move = () => random.pick(communityMoves)();

  const moves = [
    ask,
    ask,
    ask,
    ask,
    askWithAnything,
    askTogether,
    click,
    click,
    click,
    forge,
    complete,
    subscribe,
    inCommunity,
    inCommunity,
    inCommunity,
    inCommunity,
  ];
  return {
    move: () => random.pick(moves)(),
    ledgerMoves() {
      const [request] = ledger.voteRequests;
      if (random.chance(0.1)) ledger.openVoteRequest({ motion: random.pick(["upgrade", "cancelUpgrade"]) });
      if (random.chance(0.05)) ledger.rounds = !ledger.rounds;
      if (random.chance(0.2)) {
        // Many validators go silent or come back at once.
        const isActive = random.chance(0.5);
        for (const each of [...ledger.validators])
          if (random.chance(0.6)) ledger.setValidatorActive(each, isActive);
      }
      if (random.chance(0.3)) ledger.openVoteRequest();
      else if (request && request.status === "In Progress") {
        if (random.chance(0.7)) ledger.castVote(request, random.chance(0.5));
        else ledger.closeVoteRequest(request, random.pick(["Accepted", "Rejected"]));
      }
    },
  };
}
