import { createRequire } from "node:module";
import { createCanvas, GlobalFonts } from "@napi-rs/canvas";
import {
  BarController,
  BarElement,
  CategoryScale,
  Chart,
  type ChartConfiguration,
  type ChartItem,
  type ChartType,
  Filler,
  LinearScale,
  LineController,
  LineElement,
  type Plugin,
  PointElement,
} from "chart.js";
import { gapOf, type PriceSample, SPANS, type Span } from "../ledger/prices.js";
import { defined } from "../util/present.js";

/** One bar of a bar chart. */
export interface Bar {
  readonly label: string;
  readonly count: number;
  readonly tone: "usual" | "newest" | "muted";
}

Chart.register(
  LineController,
  LineElement,
  PointElement,
  BarController,
  BarElement,
  LinearScale,
  CategoryScale,
  Filler,
);

// Without a registered font, all labels would be missing, with no error.
const FONT = "DejaVu Sans";
const fontFile = createRequire(import.meta.url).resolve("#assets/fonts/DejaVuSans.ttf");
if (!GlobalFonts.registerFromPath(fontFile, FONT)) throw new Error(`The font ${fontFile} cannot be read`);

/** Sizes in pixels. Labels are large because Discord shows a picture at about half its width, and at a third on phones. */
const WIDTH = 800;
const HEIGHT = 400;
const BAR_HEIGHT = 54;
const LABEL = 28;

/** A card with its own background looks the same on Discord's dark and light themes. */
const COLOURS = {
  card: "#1e2030",
  grid: "#3b3f58",
  text: "#e4e7f2",
  line: "#8aadf4",
  area: "rgba(138, 173, 244, 0.18)",
  usual: "#8aadf4",
  newest: "#8bd5a5",
  muted: "#6e738d",
} as const;

const card: Plugin = {
  id: "card",
  beforeDraw({ ctx, width, height }) {
    ctx.save();
    ctx.fillStyle = COLOURS.card;
    ctx.beginPath();
    ctx.roundRect(0, 0, width, height, 18);
    ctx.fill();
    ctx.restore();
  },
};

async function draw<Type extends ChartType>(
  height: number,
  config: ChartConfiguration<Type, { x: number; y: number }[] | number[], string>,
): Promise<Buffer> {
  const canvas = createCanvas(WIDTH, height);
  // The types of chart.js require a browser canvas. This canvas has everything that chart.js uses.
  const chart = new Chart(
    canvas as unknown as ChartItem,
    {
      ...config,
      plugins: [card as Plugin<Type>, ...(config.plugins ?? [])],
    } as ChartConfiguration,
  );
  try {
    return await canvas.encode("png");
  } finally {
    chart.destroy();
  }
}

const font = (size: number) => ({ family: FONT, size });
const shared = {
  responsive: false,
  animation: false,
  devicePixelRatio: 1,
  layout: { padding: { top: 26, right: 44, bottom: 16, left: 52 } },
  plugins: { legend: { display: false }, tooltip: { enabled: false } },
} as const;

/** Marks of the time axis, in units before now. */
const MARKS: Readonly<Record<Span, { readonly unit: string; readonly ms: number; readonly every: number }>> =
  {
    "1d": { unit: "h", ms: 3_600_000, every: 6 },
    "7d": { unit: "d", ms: 86_400_000, every: 1 },
    "30d": { unit: "d", ms: 86_400_000, every: 5 },
  };

/** Draws prices as a line with gaps. Times are relative, because readers live in many time zones. */
export function drawPrices(samples: readonly PriceSample[], span: Span, end: number): Promise<Buffer> {
  const { unit, ms, every } = MARKS[span];
  const prices = samples.map(([, usd]) => Number(usd));
  // With room below the lowest of prices that differ so much, the axis would have negative ones.
  const isFromZero = Math.max(...prices) > 10 * Math.min(...prices);
  return draw<"line">(HEIGHT, {
    type: "line",
    data: {
      datasets: [
        {
          data: samples.map(([at, usd]) => ({ x: (at - end) / ms, y: Number(usd) })),
          borderColor: COLOURS.line,
          backgroundColor: COLOURS.area,
          borderWidth: 4,
          fill: "start",
          // A single sample between two gaps forms no line, so draw it as a point.
          pointRadius: samples.map((_, index) => (isAlone(samples, index, gapOf(span)) ? 4 : 0)),
          pointBackgroundColor: COLOURS.line,
          spanGaps: gapOf(span) / ms,
        },
      ],
    },
    options: {
      ...shared,
      scales: {
        x: {
          type: "linear",
          min: -SPANS[span].ms / ms,
          max: 0,
          grid: { color: COLOURS.grid },
          ticks: {
            color: COLOURS.text,
            font: font(LABEL),
            stepSize: every,
            maxRotation: 0,
            callback: (value) => (Number(value) === 0 ? "now" : `${Number(value)} ${unit}`),
          },
        },
        y: {
          position: "right",
          grace: "12%",
          ...defined({ min: isFromZero ? 0 : undefined }),
          grid: { color: COLOURS.grid },
          ticks: { color: COLOURS.text, font: font(LABEL), maxTicksLimit: 5 },
        },
      },
    },
  });
}

function isAlone(samples: readonly PriceSample[], index: number, gapMs: number): boolean {
  const near = (other: PriceSample | undefined) =>
    other !== undefined && Math.abs(other[0] - (samples[index]?.[0] ?? 0)) <= gapMs;
  return !near(samples[index - 1]) && !near(samples[index + 1]);
}

const numbers: Plugin<"bar"> = {
  id: "numbers",
  afterDatasetsDraw(chart) {
    const { ctx, data } = chart;
    ctx.save();
    ctx.fillStyle = COLOURS.text;
    ctx.font = `${LABEL}px "${FONT}"`;
    ctx.textBaseline = "middle";
    for (const [index, bar] of chart.getDatasetMeta(0).data.entries()) {
      ctx.fillText(Number(data.datasets[0]?.data[index]).toLocaleString("en-US"), bar.x + 10, bar.y);
    }
    ctx.restore();
  },
};

/** Draws counts as horizontal bars, each with its number. */
export function drawBars(bars: readonly Bar[]): Promise<Buffer> {
  return draw<"bar">(bars.length * BAR_HEIGHT + 60, {
    type: "bar",
    data: {
      labels: bars.map(({ label }) => label),
      datasets: [
        {
          data: bars.map(({ count }) => count),
          backgroundColor: bars.map(({ tone }) => COLOURS[tone]),
          borderRadius: 6,
          barPercentage: 0.72,
          categoryPercentage: 1,
        },
      ],
    },
    plugins: [numbers],
    options: {
      ...shared,
      indexAxis: "y",
      layout: { padding: { ...shared.layout.padding, left: 18, right: 100 } },
      scales: {
        x: { display: false, beginAtZero: true },
        y: {
          type: "category",
          grid: { display: false },
          border: { display: false },
          ticks: { color: COLOURS.text, font: font(LABEL), autoSkip: false },
        },
      },
    },
  });
}
