import type { Place } from "../discord/driver.js";
import type { Dialog, DialogComponent, Interaction } from "../discord/interactions.js";
import type { SandboxDiscord } from "../discord/server.js";
import type { Message } from "../discord/world.js";
import type { Ledger } from "../explorer/ledger.js";
import type { Random } from "../explorer/random.js";
import { typedBy } from "./hostile-answers.js";

/** A user's action. Returns the interactions that the bot must answer. */
export type Move = () => readonly Interaction[];

/** Times that people may type for a silence or a reminder, among them hostile ones. */
const TIMES = ["20m", "45m", "3h", "0", "-1h", "1e9h", "24h 6h", "automatic"];
const ZONES = ["Europe/Berlin", "UTC", "America/Nuuk", "Mars/Phobos", "__proto__"];
/** Number of presses or commands at the same moment. */
const TOGETHER = 30;

/**
 * Creates the moves of people who watch and of moderators who subscribe channels: one by one, many at the same moment, and in
 * dialogs that are filled in with anything and submitted twice.
 */
export function createCommunity(
  { driver, world, guild, people, channels }: SandboxDiscord,
  ledger: Ledger,
  random: Random,
  somebody: () => Place,
): readonly Move[] {
  const owner: Place = { user: people.owner, channel: channels.general };
  const places = Array.from({ length: 4 }, (_, at) =>
    world.addChannel({ type: 0, guild_id: guild.id, name: `fuzzed-${at}` }),
  );
  const role = world.addRole(guild, "Fuzzed", 0n, { mentionable: true });
  const opened: { readonly who: Place; readonly interaction: Interaction; readonly source: Message }[] = [];
  const often = (value: string) => (random.chance(0.9) ? value : typedBy(random).slice(0, 100) || "?");
  const validator = () => random.pick(ledger.validators).party.id;
  const price = () => ({
    when: random.pick(["above", "below", "moves"]),
    value: often(String(random.int(1, 40) / 100)),
  });
  const channel = () => random.pick(places).id;

  const watches: readonly (() => Parameters<typeof driver.type>)[] = [
    () => [somebody(), "/watch validator", { validator: often(validator()) }],
    () => [somebody(), "/watch price", price()],
    () => [
      somebody(),
      "/watch proposal",
      { proposal: often(random.pick(ledger.voteRequests).firstContractId) },
    ],
    () => [somebody(), "/watch voter", { sv: often(random.pick(ledger.superValidators).id) }],
    () => [somebody(), "/watch list", {}],
  ];
  const subscriptions: readonly (() => Parameters<typeof driver.type>)[] = [
    () => [
      owner,
      "/subscribe validator",
      { channel: channel(), validator: often(validator()), after: random.pick(TIMES) },
    ],
    () => [
      owner,
      "/subscribe validator",
      { channel: channel(), validator: "all super validators", role: role.id },
    ],
    () => [owner, "/subscribe price", { channel: channel(), ...price() }],
    () => [owner, "/subscribe upgrades", { channel: channel(), needs: often("0.9.9") }],
    () => [owner, "/subscribe newcomers", { channel: channel() }],
    () => [owner, "/subscribe governance", { channel: channel(), before: random.pick(TIMES) }],
    () => [
      owner,
      "/subscribe digest",
      { channel: channel(), zone: random.pick(ZONES), at: random.pick(["09:00", "23:59", "25:61"]) },
    ],
    () => [owner, "/subscribe remove", { channel: channel() }],
    () => [owner, "/subscribe list", {}],
    () => [owner, "/setup", {}],
  ];
  const type = (all: readonly (() => Parameters<typeof driver.type>)[]) => driver.type(...random.pick(all)());

  /** Presses a button or picks a choice that opens a dialog. */
  const openDialog: Move = () => {
    const messages = (world.messages.get(channels.general.id) ?? []).filter(
      ({ visibleTo }) => visibleTo === people.owner.id,
    );
    const source = messages.length > 0 ? random.pick(messages.slice(-20)) : undefined;
    if (!source) return [];
    const choices = driver.clickable(source).flatMap(({ type: kind, custom_id: id = "", options = [] }) =>
      kind === 3
        ? options.map(
            ({ value }) =>
              () =>
                driver.pick(owner, source, id, value),
          )
        : [() => driver.press(owner, source, id)],
    );
    if (choices.length === 0) return [];
    const interaction = random.pick(choices)();
    opened.push({ who: owner, interaction, source });
    if (opened.length > 40) opened.shift();
    return [interaction];
  };

  /** Returns values for a field: those that it has, or anything. */
  const valuesFor = ({ type: kind, options = [] }: DialogComponent): readonly string[] | undefined => {
    if (random.chance(0.3)) return undefined;
    if (kind === 4)
      return [
        often(
          random.pick([
            validator(),
            ledger.validators
              .slice(0, 30)
              .map(({ party }) => party.id)
              .join(","),
            "0.2",
            "3h",
          ]),
        ),
      ];
    if (kind === 8) return [channel()];
    if (kind === 6) return random.chance(0.5) ? [role.id] : [];
    const chosen = options.filter(() => random.chance(0.5)).map(({ value }) => value);
    return kind === 21 ? [chosen[0] ?? options[0]?.value ?? ""] : chosen;
  };
  const fillIn = (dialog: Dialog) =>
    Object.fromEntries(
      dialog.components.flatMap(({ component }) => {
        const values = valuesFor(component);
        return values === undefined ? [] : [[component.custom_id, values] as const];
      }),
    );
  const submit: Move = () => {
    const filled = opened.filter(({ interaction }) => interaction.dialog);
    if (filled.length === 0) return openDialog();
    const { who, interaction, source } = random.pick(filled);
    const { dialog } = interaction;
    if (!dialog) return [];
    const times = random.pick([1, 1, 2, 10]);
    return Array.from({ length: times }, () => driver.fill(who, { dialog, source }, fillIn(dialog)));
  };

  return [
    () => [type(watches)],
    () => [type(subscriptions)],
    // One person at the limit, and everyone at once.
    () => {
      const one = somebody();
      return Array.from({ length: TOGETHER }, () => driver.type(one, "/watch price", price()));
    },
    () =>
      Array.from({ length: TOGETHER }, () =>
        driver.type(owner, "/subscribe price", { channel: places[0]?.id ?? "", ...price() }),
      ),
    () => Array.from({ length: TOGETHER }, () => driver.type(somebody(), "/watch list")),
    () => Array.from({ length: TOGETHER }, () => type(watches)),
    // Most of them have nothing to forget.
    () => Array.from({ length: TOGETHER / 3 }, () => driver.type(somebody(), "/watch forget")),
    openDialog,
    submit,
  ];
}
