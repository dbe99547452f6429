import { PERMISSION } from "../discord/permissions.js";
import { type Book, ordinaryValidator } from "./book.js";
import { dialogLines } from "./plain.js";

/** Writes the chapter with the commands for people who manage the server, and a member's private watches. */
export async function settingUp(book: Book): Promise<void> {
  const { place, ask, page } = book;
  const { ledger } = place.explorer;
  const { driver, people, channels, world, guild } = place.discord;
  const olga = { user: people.owner };
  const { id: validator } = ordinaryValidator(ledger).party;
  const voter = ledger.superValidators[0]?.name ?? "";
  const proposal = ledger.voteRequests.find(({ status }) => status === "In Progress")?.firstContractId ?? "";
  const closedProposal =
    ledger.voteRequests.find(({ status }) => status === "Rejected")?.firstContractId ?? "";
  const add = (name: string, type: 0 | 15 = 0) => world.addChannel({ type, guild_id: guild.id, name });
  const ops = add("ops");
  const role = world.addRole(guild, "Operators", 0n, { mentionable: true }).id;
  guild.members.get(people.ben.id)?.push(role);

  book.chapter("Setting up a server", "Olga manages the server. Only she sees these answers.");
  await ask("/subscribe list", {}, olga, "`/subscribe list` before anything is set up");
  await ask("/subscribe governance", { channel: channels.governance.id, votes: true, changes: true }, olga);
  await ask("/subscribe validator", { validator, channel: ops.id, role, traffic: true }, olga);
  await book.polled();
  await ask("/subscribe validator", { validator, channel: ops.id, after: "20m" }, olga);
  await driver.ask({ channel: channels.general, ...olga }, "/subscribe validator", {
    validator,
    channel: ops.id,
    after: "auto",
  });
  await ask("/subscribe newcomers", { channel: ops.id }, olga);
  await ask("/subscribe price", { when: "above", value: "0.2", channel: ops.id }, olga);
  await ask("/subscribe digest", { every: "day", at: "9:00", channel: ops.id }, olga);
  // The list says when the new validators were last checked.
  await book.polled();
  const list = await ask("/subscribe list", {}, olga);
  const chosen = await place.discord.driver.choose({ channel: channels.general, ...olga }, list, "newcomers");
  book.page("…and one of its menu", chosen);
  const here = { channel: channels.general, ...olga };
  const governanceCard = await driver.choose(here, await driver.ask(here, "/subscribe list"), "governance");
  const edit = await driver.open(here, governanceCard, "Edit");
  book.lines("“Edit” of a subscription: a dialog", dialogLines(edit.dialog));
  book.page("…submitted", await driver.submit(here, edit, {}));
  const paused = await driver.click(here, chosen, "Pause");
  book.page("…paused", paused);
  book.page("…and resumed", await driver.click(here, paused, "Resume"));
  await ask("/subscribe newcomers", { channel: ops.id }, olga, "`/subscribe newcomers` again");
  await ask("/subscribe edit", { channel: channels.governance.id, before: "2d 6h" }, olga);
  await ask("/subscribe test", { channel: channels.governance.id }, olga);
  await book.hear("…and the test announcement", channels.governance, /[Dd]rill|[Tt]est/);
  await ask("/subscribe resume", { channel: channels.governance.id }, olga);
  const spare = add("spare");
  await ask(
    "/subscribe newcomers",
    { channel: spare.id },
    olga,
    "`/subscribe newcomers` in a second channel",
  );
  await ask("/subscribe remove", { channel: spare.id }, olga);
  await ask("/voters list", {}, olga, "`/voters list` before anybody is mapped");
  await ask("/voters set", { sv: voter, who: people.ana.id }, olga);
  await ask("/voters list", {}, olga);
  await ask("/voters remove", { sv: voter }, olga);

  const scheduling = world.addRole(guild, "Scheduling", PERMISSION.createEvents).id;
  const ownRoles = guild.members.get(world.bot.id) ?? [];
  guild.members.set(world.bot.id, [...ownRoles, scheduling]);
  await driver.ask(here, "/subscribe edit", { channel: channels.governance.id, calendar: true });
  const setup = await ask("/setup", {}, olga);
  await driver.ask(here, "/subscribe edit", { channel: channels.governance.id, calendar: false });
  guild.members.set(world.bot.id, ownRoles);
  const adding = async (feed: string) => {
    const menu = driver.components(setup).find(({ placeholder }) => placeholder === "Add…");
    const choice = menu?.options?.find(({ label }) => label === feed)?.value ?? "";
    const interaction = driver.pick(here, setup, menu?.custom_id ?? "", choice);
    return { dialog: await world.until(() => interaction.dialog, "a dialog"), source: setup };
  };
  const validatorDialog = await adding("Validator");
  book.lines("“Add…” a validator: a dialog", dialogLines(validatorDialog.dialog));
  const subjects = ledger.superValidators
    .slice(0, 2)
    .map(({ name }) => name)
    .join(", ");
  book.page("…submitted", await driver.submit(here, validatorDialog, { channel: spare.id, subjects }));
  book.lines("“Add…” a price alert: a dialog", dialogLines((await adding("Price")).dialog));
  book.lines("“Add…” a digest: a dialog", dialogLines((await adding("Digest")).dialog));
  await driver.ask(here, "/subscribe list");
  page("“Test all”", await driver.click(here, setup, "Test all"));
  await driver.ask(here, "/subscribe remove", { channel: spare.id });

  book.chapter("Watching in private", "Ana sets up private alerts.");
  const ana = { user: people.ana, channel: channels.general };
  await ask("/watch list", {}, ana, "`/watch list` before anything is watched");
  await ask("/watch validator", { validator }, ana);
  await book.hear("…and the first message", world.directChannel(people.ana), /will arrive here/);
  await ask("/watch price", { when: "below", value: "0.1" }, ana);
  await ask("/watch proposal", { proposal }, ana);
  await ask("/watch voter", { sv: voter }, ana);
  const watches = await ask("/watch list", {}, ana);
  const [menu] = driver.components(watches).filter(({ type }) => type === 3);
  const first = menu?.options?.[0]?.value;
  if (first !== undefined) page("…and one of them", await driver.choose(ana, watches, first));
  const given = {
    watch: String((await driver.complete(ana, "/watch test", "watch", { watch: "" }))[0]?.value),
  };
  await ask("/watch test", given, ana, "`/watch test`");
  await book.hear("…and the test alert, in private", world.directChannel(people.ana), /TEST/);
  await ask("/watch forget", {}, ana);

  book.chapter("What does not work", "Refusals and errors. Each says what to do.");
  const closed = add("closed");
  closed.permission_overwrites.push({
    id: guild.id,
    type: 0,
    allow: "0",
    deny: String(PERMISSION.viewChannel),
  });
  const noEmbeds = add("no-embeds");
  noEmbeds.permission_overwrites.push({
    id: guild.id,
    type: 0,
    allow: "0",
    deny: String(PERMISSION.embedLinks),
  });
  const secret = world.addRole(guild, "Secret", 0n);
  const stranger = world.addUser("Stranger");
  const nothing = "Nobody at all";
  for (const [command, given, as] of [
    ["/validator show", { validator: nothing }, {}],
    ["/party show", { party: "nobody::1220" }, {}],
    ["/party show", { party: nothing }, {}],
    ["/proposals show", { proposal: nothing }, {}],
    ["/contract show", { contract: "00ab" }, {}],
    ["/event show", { event: "1220:0" }, {}],
    ["/update show", { update: "1220ab" }, {}],
    ["/token show", { contract: nothing }, {}],
    ["/lookup", { id: "zzzz nothing" }, {}],
    ["/lookup", { id: "ab" }, {}],
    ["/lookup", { id: "https://discord.com/channels/15747272410807664/15747272410807665" }, {}],
    ["/watch voter", { sv: nothing }, {}],
    ["/watch price", { when: "above", value: "cheap" }, {}],
    ["/watch price", { when: "moves", value: "0.2" }, {}],
    ["/watch price", { when: "above", value: "5%" }, {}],
    ["/watch proposal", { proposal: closedProposal }, {}],
    ["/watch test", { watch: "nothing" }, {}],
    ["/subscribe governance", { channel: closed.id }, olga],
    ["/subscribe governance", { channel: noEmbeds.id }, olga],
    ["/subscribe governance", { before: "soon" }, olga],
    ["/subscribe governance", { before: "1m" }, olga],
    ["/subscribe governance", { calendar: true }, olga],
    ["/subscribe governance", { publish: true }, olga],
    ["/subscribe validator", { validator, after: "5m" }, olga],
    ["/subscribe validator", { validator: nothing }, olga],
    ["/subscribe digest", { at: "25:00" }, olga],
    ["/subscribe digest", { zone: "Mars" }, olga],
    ["/subscribe digest", { every: "day", on: "friday" }, olga],
    ["/subscribe newcomers", { role: guild.id }, olga],
    ["/subscribe remove", { channel: spare.id }, olga],
    ["/subscribe remove", { channel: ops.id }, olga],
    ["/subscribe edit", { channel: ops.id, feed: "newcomers", before: "6h" }, olga],
    ["/voters set", { sv: nothing, who: people.ana.id }, olga],
    ["/voters set", { sv: voter, who: world.bot.id }, olga],
    ["/voters set", { sv: voter, who: secret.id }, olga],
    ["/voters set", { sv: voter, who: stranger.id }, olga],
    ["/voters remove", { sv: voter }, olga],
  ] as const)
    await ask(command, given, as);
}
