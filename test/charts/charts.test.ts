import { createCanvas, loadImage } from "@napi-rs/canvas";
import { describe, expect, it } from "vitest";
import { createCharts } from "../../src/charts/charts.js";
import type { PriceSample } from "../../src/ledger/prices.js";

const NOW = Date.UTC(2026, 10, 21, 12);
const MINUTE = 60_000;

const day = (skip: (minute: number) => boolean = () => false): PriceSample[] =>
  Array.from({ length: 288 }, (_, at) => at * 5)
    .filter((minute) => !skip(minute))
    .map((minute) => [NOW - (24 * 60 - minute) * MINUTE, (0.15 + Math.sin(minute / 200) * 0.01).toFixed(6)]);

/** Counts the pixels in a part of a picture that differ from the background. */
async function inkIn(png: Buffer | undefined, part: { x: number; y: number; width: number; height: number }) {
  const image = await loadImage(png ?? "");
  const canvas = createCanvas(image.width, image.height);
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(part.x, part.y, part.width, part.height);
  let ink = 0;
  for (let at = 0; at < data.length; at += 4) {
    if (Math.abs((data[at] ?? 0) - 0x1e) + Math.abs((data[at + 1] ?? 0) - 0x20) > 40) ink += 1;
  }
  return ink;
}

describe("a chart", () => {
  const failures: string[] = [];
  const charts = createCharts({ error: (_, message) => failures.push(message) });

  it("has labels (a missing font would drop them without an error)", async () => {
    const png = await charts.price(day(), "1d", NOW);
    expect(await inkIn(png, { x: 20, y: 348, width: 760, height: 44 })).toBeGreaterThan(300);
    expect(await inkIn(png, { x: 680, y: 10, width: 100, height: 320 })).toBeGreaterThan(300);
    const bars = await charts.bars("labels", [{ label: "0.4.16", count: 12, tone: "newest" }]);
    expect(await inkIn(bars, { x: 10, y: 20, width: 95, height: 60 })).toBeGreaterThan(100);
  });

  it("leaves a gap in the line where prices are unknown", async () => {
    const part = { x: 340, y: 40, width: 40, height: 270 };
    const whole = await inkIn(await charts.price(day(), "1d", NOW), part);
    const gap = await inkIn(
      await charts.price(
        day((minute) => minute > 500 && minute < 900),
        "1d",
        NOW,
      ),
      part,
    );
    expect(gap).toBeLessThan(whole / 3);
  });

  it("has no negative prices on its axis if one price is far above the others", async () => {
    // Without its first sample, because pictures are kept by the number of samples.
    const samples = day((minute) => minute === 0);
    samples[100] = [samples[100]?.[0] ?? 0, "4.2"];
    // The axis begins at zero, so that the others are at its bottom.
    const above = { x: 60, y: 240, width: 100, height: 80 };
    expect(await inkIn(await charts.price(samples, "1d", NOW), above)).toBeLessThan(500);
  });

  it("is undefined and logged if it cannot be drawn, and the next one is drawn", async () => {
    const bars = Array.from({ length: 100_000 }, () => ({ label: "", count: 1, tone: "usual" }) as const);
    expect(await charts.bars("too large", bars)).toBeUndefined();
    expect(failures).toEqual([expect.stringMatching(/could not be drawn/)]);
    expect(await charts.bars("small enough", bars.slice(0, 3))).toBeDefined();
  });

  it("is drawn once until the next sample, regardless of the number of callers", async () => {
    const samples = day();
    const [first, second] = await Promise.all([
      charts.price(samples, "7d", NOW),
      charts.price(samples, "7d", NOW),
    ]);
    expect(second).toBe(first);
    // If only the time of the latest price has changed, the picture is reused.
    const last = samples.at(-1)?.[1] ?? "";
    const at = (ms: number): PriceSample[] => [...samples.slice(0, -1), [ms, last]];
    expect(await charts.price(at(NOW - 20_000), "7d", NOW)).toBe(first);
    expect(await charts.price([...samples.slice(0, -1), [NOW, "0.17"]], "7d", NOW)).not.toBe(first);
    const next: PriceSample = [NOW + 5 * MINUTE, "0.16"];
    expect(await charts.price([...samples, next], "7d", NOW + 5 * MINUTE)).not.toBe(first);
  });
});
