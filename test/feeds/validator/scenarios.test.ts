import { describe, expect, it } from "vitest";
import { alerts } from "../../../src/feeds/validator/collections.js";
import { validatorsOf } from "../../../src/feeds/validator/events.js";
import { readNetworkRhythm } from "../../../src/ledger/network-rhythm.js";
import { DAY, HOUR, MINUTE } from "../../../src/util/units.js";
import { play, regular, type Scenario, START } from "./virtual.js";

const hourly = regular(60 * MINUTE);
const DEATH = START + 2 * HOUR;
/** The silence alerts of a history, in hours after the start. */
const silences = async (scenario: Scenario, forMs: number) =>
  (await play(scenario, forMs)).flatMap(({ kind, at }) =>
    kind === "silent" || kind === "many" ? [(at - START) / HOUR] : [],
  );

it.concurrent("a quick validator that slows down to the network's interval is reported once at most, and in time when it dies", async () => {
  const [slower, death] = [START + 6 * HOUR, START + 14 * HOUR];
  const quick = regular(10 * MINUTE);
  const told = await silences(
    {
      validators: 60,
      watched: [3],
      lastReport: (number, now) => {
        if (number !== 3) return hourly(number, now);
        return Math.max(
          quick(number, Math.min(now, slower)),
          now < slower ? 0 : hourly(number, Math.min(now, death)),
        );
      },
    },
    20 * HOUR,
  );
  const [early, ...later] = told;
  expect(early).toBeLessThan(8);
  expect(later).toHaveLength(1);
  expect(later[0]).toBeLessThan(17.5);
});

describe.concurrent("a validator that dies", () => {
  it("is reported although the explorer cannot answer a later page of the list", async () => {
    const told = await silences(
      {
        validators: 150,
        watched: [3],
        lastReport: (number, now) => hourly(number, number === 3 ? Math.min(now, DEATH) : now),
        isFailing: (path, page) => path.endsWith("/validators") && page > 0,
      },
      5 * HOUR,
    );
    expect(told).toHaveLength(1);
    expect(told[0]).toBeLessThan(5);
  });

  it("is reported although the explorer imports only once an hour, and is up to date for two polls", async () => {
    const imported = (now: number) => now - 5 * MINUTE - (now % HOUR);
    const told = await silences(
      {
        validators: 60,
        watched: [3],
        lastReport: (number, now) =>
          hourly(number, number === 3 ? Math.min(imported(now), DEATH) : imported(now)),
        updateAt: (now) => imported(now) - 5_000,
        roundAt: (now) => Math.floor(imported(now) / (10 * MINUTE)),
      },
      8 * HOUR,
    );
    expect(told).toHaveLength(1);
    expect(told[0]).toBeLessThan(6);
  });

  it("is reported in time although it was down for hours several times before", async () => {
    // It reports once at each start, every five hours, and crashes within the hour.
    const last = START + 20 * HOUR;
    const told = await silences(
      {
        validators: 30,
        watched: [3],
        lastReport: (number, now) =>
          number === 3
            ? START + Math.floor((Math.min(now, last) - START) / (5 * HOUR)) * 5 * HOUR
            : hourly(number, now),
      },
      23 * HOUR,
    );
    expect(told).toHaveLength(5);
    for (const [place, at] of told.entries()) expect(at - 5 * place, String(place)).toBeLessThan(3);
  });
});

it.concurrent("a healthy validator whose row catches up late after a long outage of the explorer is not reported", async () => {
  const [out, back] = [START + 6 * HOUR, START + 9 * HOUR];
  const dataAt = (now: number) => (now >= out && now < back ? out : now);
  const told = await silences(
    {
      validators: 60,
      watched: [3, 4, 5],
      lastReport: (number, now) =>
        hourly(number, number === 3 && now >= out && now < back + 12 * MINUTE ? out : dataAt(now)),
      updateAt: (now) => dataAt(now) - 5_000,
      roundAt: (now) => Math.floor(dataAt(now) / (10 * MINUTE)),
    },
    14 * HOUR,
  );
  expect(told).toEqual([]);
});

it.concurrent("a group that is still silent is told without the members that report again in the same poll", async () => {
  // The first one is told again at the second reading after six hours.
  const lastOf = (number: number) => hourly(number, DEATH);
  const watched = [3, 4, 5].toSorted((a, b) => lastOf(a) - lastOf(b));
  const [first = 0, , last = 0] = watched;
  const told = await play(
    {
      validators: 30,
      watched,
      lastReport(number, now) {
        const isBack = number === last && now >= lastOf(first) + 6 * HOUR + 10 * MINUTE;
        return number > 20 || isBack ? hourly(number, now) : hourly(number, Math.min(now, DEATH));
      },
    },
    9 * HOUR,
  );
  const [worse] = told.flatMap((each) => (each.kind === "worse" ? [each] : []));
  expect(told.map(({ kind }) => kind)).toContain("many");
  expect(worse?.members).toHaveLength(2);
});

it.concurrent("a group that is still silent is told without the members that are paused", async () => {
  const watched = [3, 4, 5];
  const pausedAt = DEATH + 4 * HOUR;
  const told = await play(
    {
      validators: 30,
      watched,
      isPaused: (number, now) => number === 5 && now >= pausedAt,
      lastReport: (number, now) =>
        hourly(number, number > 20 || (number === 5 && now >= pausedAt) ? now : Math.min(now, DEATH)),
    },
    9 * HOUR,
  );
  const [worse] = told.flatMap((each) => (each.kind === "worse" ? [each] : []));
  expect(told.map(({ kind }) => kind)).toContain("many");
  expect(worse?.members).toHaveLength(2);
});

it.concurrent("a team is told of a validator that joins a group later, and a team that was told before is not", async () => {
  const lastOf = (number: number) => hourly(number, DEATH);
  const watched = [3, 4, 5].toSorted((a, b) => lastOf(a) - lastOf(b));
  const [first = 0, second = 0, last = 0] = watched;
  const told = await play(
    {
      validators: 30,
      watched,
      roles: { [first]: "1", [second]: "1", [last]: "2" },
      lastReport: (number, now) => hourly(number, number > 20 ? now : Math.min(now, DEATH)),
    },
    6 * HOUR,
  );
  expect(told.map(({ kind }) => kind).slice(0, 2)).toEqual(["many", "joined"]);
  expect(told.filter(({ kind }) => kind === "joined")).toHaveLength(1);
});

it.concurrent("a member of a group that was back and goes silent again is told again, and is one member of each group", async () => {
  // One report of a member is listed hours late, and no other follows.
  const lastOf = (number: number) => hourly(number, DEATH);
  const lateAt = lastOf(3) + 30 * MINUTE;
  const told = await play(
    {
      validators: 30,
      watched: [3, 4, 5],
      lastReport: (number, now) =>
        number === 3 && now >= lastOf(3) + 3 * HOUR
          ? lateAt
          : hourly(number, number > 20 ? now : Math.min(now, DEATH)),
      async inspect(state) {
        for await (const [, alert] of state.open(alerts).entries()) {
          const parties = alert.kind === "many" ? alert.members.map(({ validator }) => validator) : [];
          expect(new Set(parties).size).toBe(parties.length);
        }
      },
    },
    6 * HOUR,
  );
  expect(told.filter(({ kind }) => kind === "many" || kind === "silent")).toHaveLength(2);
});

it.concurrent("a member of a group that was delisted and is listed again with a report counts as back", async () => {
  const [goneAt, backAt] = [DEATH + 3 * HOUR, DEATH + 6 * HOUR];
  const told = await play(
    {
      validators: 30,
      watched: [3, 4, 5],
      isUnlisted: (number, now) => number === 3 && now >= goneAt && now < backAt,
      lastReport: (number, now) =>
        hourly(number, number > 20 || (number === 3 && now >= backAt) ? now : Math.min(now, DEATH)),
      async inspect(state) {
        const all = [...(await state.open(alerts).list()).values()];
        const members = all.flatMap((alert) => (alert.kind === "many" ? alert.members : []));
        const back = members.flatMap((each) => each.backAt ?? []);
        expect(back).toHaveLength(1);
        // It is back since its report, and not since the poll that noticed.
        expect(back).toEqual(back.map((at) => Math.floor(hourly(3, at + 1))));
        expect(members.filter((each) => each.isGone)).toEqual([]);
      },
    },
    10 * HOUR,
  );
  expect(told.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["many", "gone", "listed"]));
});

it.concurrent("validators that an explorer with old data does not know are not called delisted", async () => {
  const [broken, mended] = [START + 3 * HOUR, START + 6 * HOUR];
  const isOld = (now: number) => now >= broken && now < mended;
  const shown = (now: number) => (isOld(now) ? now - 3 * DAY : now);
  const told = await play(
    {
      validators: 30,
      watched: [3, 4, 5],
      lastReport: (number, now) => hourly(number, shown(now)),
      updateAt: (now) => shown(now) - 5_000,
      roundAt: (now) => Math.floor(shown(now) / (10 * MINUTE)),
      isUnlisted: (number, now) => isOld(now) && number < 6,
    },
    9 * HOUR,
  );
  expect(told.map(({ kind }) => kind)).toEqual(["hold"]);
});

it.concurrent("a validator that came back while the explorer was behind may have been back earlier", async () => {
  const [frozen, thawed, back] = [START + 5 * HOUR, START + 10 * HOUR, START + 5.5 * HOUR];
  const shown = (now: number) => (now < frozen || now >= thawed ? now : frozen);
  const told = await play(
    {
      validators: 30,
      watched: [3],
      lastReport: (number, now) =>
        number === 3 && shown(now) >= DEATH && shown(now) < back
          ? hourly(3, DEATH)
          : hourly(number, shown(now)),
      updateAt: (now) => shown(now) - 5_000,
      roundAt: (now) => Math.floor(shown(now) / (10 * MINUTE)),
    },
    12 * HOUR,
  );
  const backs = told.filter(({ kind }) => kind === "back");
  expect(backs).toMatchObject([{ isBackEarlier: true }]);
});

it.concurrent("the end of a standstill is told once, also if the rounds could not be read for a while before it", async () => {
  const [still, moves] = [START + 3 * HOUR, START + 6 * HOUR];
  let clock = START;
  const stopped = (now: number) => (now > still && now < moves ? still : now);
  const told = await play(
    {
      validators: 30,
      watched: [3],
      lastReport(number, now) {
        clock = now;
        return hourly(number, stopped(now));
      },
      roundAt: (now) =>
        Math.floor((now < moves ? Math.min(now, still) : now - (moves - still)) / (10 * MINUTE)),
      isFailing: (path) =>
        path.endsWith("/dashboard") && clock > moves - 40 * MINUTE && clock < moves + 10 * MINUTE,
    },
    9 * HOUR,
  );
  expect(told.filter(({ kind }) => kind === "moving")).toHaveLength(1);
});

describe.concurrent("validators that are well", () => {
  const quick = regular(10 * MINUTE);
  const slow = regular(65 * MINUTE);
  const change = START + 4 * HOUR;

  it("are silent at most three times, before the bot knows that they report more rarely than the network", async () => {
    const told = await silences(
      {
        validators: 45,
        watched: [0, 1, 42, 43, 44],
        lastReport: (number, now) => (number < 41 ? quick : slow)(number, now),
      },
      12 * HOUR,
    );
    expect(told.length).toBeLessThanOrEqual(9);
    for (const at of told) expect(at).toBeLessThan(3.5);
  });

  it.each([3, 12])("are not silent in a small network that reports every %i hours", async (hours) => {
    const lastReport = regular(hours * HOUR);
    expect(await silences({ validators: 8, watched: [0, 1, 2, 3], lastReport }, 26 * HOUR)).toEqual([]);
  });

  it("are not silent after a quick network has slowed down, one validator after another", async () => {
    const events = await play(
      {
        validators: 45,
        watched: [0, 1, 2, 3, 4, 5],
        lastReport: (number, now) =>
          now < change ? quick(number, now) : Math.max(quick(number, change), slow(number, now)),
      },
      14 * HOUR,
    );
    expect(events.map(({ kind }) => kind)).toEqual(["hold"]);
  });

  it("are not reported while most of a quick network is silent, and the others are", async () => {
    const told = await silences(
      {
        validators: 45,
        watched: [0, 1, 2, 3, 4, 5],
        lastReport: (number, now) => quick(number, number < 30 ? Math.min(now, change) : now),
      },
      6 * HOUR,
    );
    expect(told).toHaveLength(1);
    expect((told[0] ?? 0) - 4).toBeLessThan(0.7);
  });
});

it.concurrent.each([
  ["has reported for the first time", 0, undefined],
  ["may have reported before, because the explorer could not be read", 2 * HOUR, true],
])("tells that a validator is back that %s", async (_, unreadMs, isBackEarlier) => {
  const back = START + 8 * HOUR;
  let clock = START;
  const events = await play(
    {
      validators: 30,
      watched: [3],
      lastReport(number, now) {
        clock = now;
        const isDown = number === 3 && now > DEATH && now < back;
        return hourly(number, isDown ? DEATH : now);
      },
      isFailing: (path) => path.includes("/validators") && clock > back - MINUTE && clock < back + unreadMs,
    },
    15 * HOUR,
  );
  expect(events.flatMap((each) => (each.kind === "back" ? [each.isBackEarlier] : []))).toEqual([
    isBackEarlier,
  ]);
});

it.concurrent("tells of low traffic beside watched validators whose report times are wrong", async () => {
  const events = await play(
    {
      validators: 1_000,
      watched: [1, 2, 3, 4],
      lastReport: (number, now) => (number > 0 && number < 4 ? now + 2 * HOUR : hourly(number, now)),
      lowTraffic: [4],
    },
    HOUR,
  );
  expect(events.map(({ kind }) => kind)).toEqual(["traffic"]);
});

describe.concurrent("validators that report", () => {
  const watched = Array.from({ length: 15 }, (_, number) => number);

  it("are not silent after the whole network stood still for hours, updates included", async () => {
    const [stop, resume] = [START + 2 * HOUR, START + 6 * HOUR];
    const back = (number: number) => resume + ((number * 0.618) % 1) * 50 * MINUTE;
    const told = await silences(
      {
        validators: 60,
        watched,
        lastReport: (number, now) =>
          now < back(number)
            ? hourly(number, Math.min(now, stop))
            : Math.max(back(number), hourly(number, now)),
        updateAt: (now) => (now > stop && now < resume ? stop : now - 5_000),
        // A new round begins at once.
        roundAt: (now) =>
          Math.floor(Math.min(now, stop) / (10 * MINUTE)) +
          (now < resume ? 0 : 1 + Math.floor((now - resume) / (10 * MINUTE))),
      },
      8 * HOUR,
    );
    expect(told).toEqual([]);
  });

  it("of a quick network are on hold while it stands still, and the standstill is announced", async () => {
    const [stop, resume] = [START + 2 * HOUR, START + 4 * HOUR];
    const quick = regular(10 * MINUTE);
    const moved = (now: number) => (now > stop && now < resume ? stop : now);
    const events = await play(
      {
        validators: 30,
        watched,
        lastReport: (number, now) => quick(number, moved(now)),
        roundAt: (now) => Math.floor(moved(now) / (10 * MINUTE)),
      },
      6 * HOUR,
    );
    expect(events.map(({ kind }) => kind)).toEqual(["hold", "moving"]);
    const [hold] = events;
    expect(hold).toMatchObject({ isStandstill: true });
    expect((hold?.at ?? 0) - stop).toBeLessThan(HOUR);
  });

  it.each([
    ["hourly", 60, 80],
    ["every ten minutes", 10, 15],
  ])(
    "that report %s are alerted about in time although one list was an old copy",
    async (_, every, olderMin) => {
      const report = regular(every * MINUTE);
      const tellsOf = async (isOld: (at: number) => boolean) => {
        const events = await play(
          {
            validators: 60,
            watched: [3, 4],
            lastReport: (validator, now) => {
              const at = isOld(now) ? now - olderMin * MINUTE : now;
              return report(validator, validator === 3 ? Math.min(at, START + 2.5 * HOUR) : at);
            },
          },
          7 * HOUR,
        );
        expect(events.map(({ kind }) => kind)).toEqual(["silent"]);
        return (events[0]?.at ?? 0) - START;
      };
      const usual = await tellsOf(() => false);
      // An old copy is not a reading.
      expect(await tellsOf((at) => at === START + 3 * HOUR)).toBeLessThanOrEqual(usual + 10 * MINUTE);
      await tellsOf((at) => ((at - START) / (10 * MINUTE)) % 2 === 1);
    },
  );

  it("are not called delisted one by one while the explorer has lost most of its list", async () => {
    const isUnlisted = (validator: number, now: number) =>
      validator >= 5 && now > START + 2 * HOUR && now < START + 4 * HOUR;
    const many = Array.from({ length: 30 }, (_, place) => place + 10);
    const scenario = { validators: 60, lastReport: hourly, isUnlisted };
    expect(await play({ ...scenario, watched: many }, 6 * HOUR)).toEqual([]);
    const few = await play({ ...scenario, watched: [10, 11] }, 6 * HOUR);
    expect(few.map(({ kind }) => kind).sort()).toEqual(["gone", "gone", "listed", "listed"]);
  });

  it("are all called delisted after a day if the network was reset, however many are watched", async () => {
    const resetAt = START + 2 * HOUR;
    const watched = Array.from({ length: 30 }, (_, place) => place + 10);
    const isUnlisted = (validator: number, now: number) => validator >= 5 && now > resetAt;
    const events = await play({ validators: 60, lastReport: hourly, isUnlisted, watched }, 29 * HOUR);
    expect(new Set(events.map(({ kind }) => kind))).toEqual(new Set(["gone"]));
    const parties = events.flatMap(validatorsOf);
    expect([parties.length, new Set(parties).size]).toEqual([30, 30]);
    // The explorer is asked about a few of them in each poll.
    expect(events).toHaveLength(1);
    expect(Math.min(...events.map(({ at }) => at))).toBeGreaterThan(resetAt + DAY);
  });

  it("are called delisted together if they are more than a poll can ask about, except one that is listed again", async () => {
    const goneAt = START + HOUR;
    const watched = Array.from({ length: 12 }, (_, place) => place + 10);
    const isUnlisted = (validator: number, now: number) =>
      watched.includes(validator) && now > goneAt && !(validator === 15 && now > START + 14 * HOUR);
    // A page that is shorter than requested would be the last one.
    const rowsOf: Scenario["rowsOf"] = (rows) => [...rows, ...rows].slice(0, 100);
    const scenario = { validators: 120, lastReport: hourly, isUnlisted, watched, rowsOf };
    const events = await play(scenario, 27 * HOUR);
    expect(events.map(({ kind }) => kind)).toEqual(["gone"]);
    expect(events.flatMap(validatorsOf)).toHaveLength(11);
    // A poll asks about five of them, so that the last one is missed later than the first.
    expect((events[0]?.at ?? 0) - goneAt).toBeGreaterThan(DAY);
    expect((events[0]?.at ?? 0) - goneAt).toBeLessThan(DAY + 2 * HOUR);
  });

  it("are called delisted together although the explorer was behind for a while, knows one again, and loses a page", async () => {
    const goneAt = START + HOUR;
    const watched = Array.from({ length: 12 }, (_, place) => place + 10);
    const known = 20;
    let clock = START;
    const lag = (now: number) =>
      now >= START + 20 * HOUR && now < START + 20.5 * HOUR ? now - 2 * HOUR : now;
    const events = await play(
      {
        validators: 120,
        watched,
        lastReport: (number, now) => {
          clock = now;
          return hourly(number, lag(now));
        },
        updateAt: (now) => lag(now) - 5_000,
        roundAt: (now) => Math.floor(lag(now) / (10 * MINUTE)),
        isUnlisted: (validator, now) =>
          watched.includes(validator) && now > goneAt && !(validator === known && now > START + 5 * HOUR),
        // Its details are there again, and the list still lacks it.
        rowsOf: (rows, _, now) => {
          const isKnown = ({ lastActiveAt }: (typeof rows)[number]) =>
            Math.abs(lastActiveAt - hourly(known, lag(now))) < 1_500;
          const listed = now > goneAt ? rows.filter((row) => !isKnown(row)) : rows;
          return [...listed, ...listed].slice(0, 100);
        },
        isFailing: (path, page) =>
          path === "/v1/validators" && page > 0 && clock >= START + 25 * HOUR && clock < START + 25.4 * HOUR,
      },
      28 * HOUR,
    );
    expect(events.map(({ kind }) => kind)).toEqual(["hold", "gone"]);
    expect(events.flatMap(validatorsOf)).toHaveLength(11);
    expect(events[1]?.at).toBeLessThan(goneAt + DAY + 2 * HOUR);
  });

  it("are not silent if only the list of validators is old", async () => {
    const [stuck, fresh] = [START + 2 * HOUR, START + 3 * HOUR];
    const quick = regular(10 * MINUTE);
    const told = await silences(
      {
        validators: 200,
        watched,
        // A few older nodes report every ten minutes.
        lastReport: (number, now) =>
          (number % 10 === 0 ? quick : hourly)(number, now > stuck && now < fresh ? stuck : now),
      },
      4 * HOUR,
    );
    expect(told).toEqual([]);
  });

  it("are listed, whatever the explorer says about one of them", async () => {
    const events = await play(
      { validators: 400, watched: [3], lastReport: hourly, isUnknown: (number) => number === 3 },
      2 * HOUR,
    );
    expect(events).toEqual([]);
  });
});

describe.concurrent("a validator that is healthy", () => {
  it("does not count a validator twice that the explorer lists twice", async () => {
    const [death, lateMs] = [START + 2 * HOUR, 80 * MINUTE];
    let late: { validator: string; lastActiveAt: number }[] = [];
    const events = await play(
      {
        validators: 120,
        watched: [1, 2],
        lastReport: (number, now) => hourly(number, number < 8 ? Math.min(now, death) : now),
        rowsOf(rows, page, now) {
          if (page === 1) late = rows.filter(({ lastActiveAt }) => lastActiveAt < now - lateMs);
          return page === 0 ? [...rows, ...late] : rows;
        },
      },
      5 * HOUR,
    );
    expect(events.map(({ kind }) => kind)).toEqual(["silent", "silent"]);
  });

  it("is counted among those that went silent although another one has been down for longer", async () => {
    const [death, longAgo] = [START + 2 * HOUR, START - 20 * HOUR];
    const events = await play(
      {
        validators: 130,
        watched: [1, 2],
        lastReport(number, now) {
          if (number === 1) return longAgo;
          return hourly(number, number < 20 ? Math.min(now, death) : now);
        },
      },
      5 * HOUR,
    );
    expect(events.map(({ kind }) => kind).at(-1)).toBe("many");
  });

  it("does not take a slow validator for silent after a standstill", async () => {
    const slow = regular(3 * HOUR);
    const stop = Math.ceil(slow(3, START + 16 * HOUR) / MINUTE) * MINUTE + 2.5 * HOUR;
    const resume = stop + 5 * HOUR;
    const events = await play(
      {
        validators: 60,
        watched: [3, 4],
        lastReport(number, now) {
          const own = number === 3 ? slow : hourly;
          const back = resume + (number === 3 ? 2.5 * HOUR : ((number * 0.618) % 1) * HOUR);
          if (now < back) return own(number, Math.min(now, stop));
          return number === 3
            ? back + Math.floor((now - back) / (3 * HOUR)) * 3 * HOUR
            : Math.max(back, own(number, now));
        },
        roundAt: (now) =>
          Math.floor(Math.min(now, stop) / (10 * MINUTE)) +
          (now < resume ? 0 : 1 + Math.floor((now - resume) / (10 * MINUTE))),
      },
      resume - START + 6 * HOUR,
    );
    const told = events.filter(({ at }) => at >= resume).map(({ kind }) => kind);
    expect(told).toEqual(["moving"]);
  });

  it("does not leave a change of rhythm behind when nobody watches any more", async () => {
    const [quick, change] = [regular(10 * MINUTE), START + 4 * HOUR];
    let rhythm: Awaited<ReturnType<typeof readNetworkRhythm>>;
    const events = await play(
      {
        validators: 45,
        watched: [1, 2, 3],
        lastReport: (number, now) =>
          now < change ? quick(number, now) : Math.max(quick(number, change), hourly(number, now)),
        isUnwatched: (now) => now > change + HOUR,
        inspect: async (state) => {
          rhythm = await readNetworkRhythm(state);
        },
      },
      6 * HOUR,
    );
    expect(events.some(({ kind }) => kind === "hold")).toBe(true);
    expect(rhythm?.intervalMs).toBeDefined();
    expect(rhythm?.changing).toBeUndefined();
  });

  it("does not say that alerts are on again while the network stands still", async () => {
    const [stop, updates] = [START + 4 * HOUR, START + 5 * HOUR];
    let ended: unknown[] = [];
    await play(
      {
        validators: 60,
        watched: [1, 2, 3],
        updateAt: (now) => (now > stop && now < updates ? stop : now - 5_000),
        lastReport: (number, now) => hourly(number, Math.min(now, stop)),
        roundAt: (now) => Math.floor(Math.min(now, stop) / (10 * MINUTE)),
        inspect: async (state) => {
          ended = [];
          for await (const [, each] of state.open(alerts).entries())
            if (each.endedAt !== undefined) ended.push(each);
        },
      },
      6 * HOUR,
    );
    expect(ended).toMatchObject([{ kind: "hold", isStillHeld: true }]);
  });
});
