// @ts-check
// The results as pictures, drawn by Observable Plot without a browser.

import { load } from "../contenders/load.mjs";
import { growthPoints } from "./ratios.mjs";

/** @typedef {import("../measure.mjs").RuntimeResult} RuntimeResult */

const COLORS = {
  ringfence: "#0b7285",
  "bare fs": "#868e96",
  "hand-written tool": "#e8590c",
  "another product": "#ced4da",
};

/** What is shown of contenders, and what it is called there. */
const COMPARED = [
  { id: "read 4 KiB", title: "read 4 KiB" },
  { id: "64 reads of 4 KiB in flight, per read", title: "64 reads in flight" },
  { id: "200 lines of 1 MiB ascii, middle", title: "200 lines of 1 MiB" },
  { id: "200 lines of 1 MiB cjk, middle", title: "200 lines of 1 MiB, CJK" },
  { id: "create 16 KiB, not synced", title: "create 16 KiB, no sync" },
];

/**
 * How many times as long as ringfence each contender takes: a row for each runtime, a column for
 * each task.
 *
 * @param {readonly RuntimeResult[]} results
 */
export async function contendersPlot(results) {
  const draw = await drawing();
  const rows = results.map(({ runtime, measurements }) =>
    COMPARED.flatMap(({ id, title }) => {
      const timings = measurements.find((measurement) => measurement.id === id)?.timings ?? [];
      const ours = timings.find(({ name }) => name === "ringfence")?.p50;
      if (ours === undefined) return [];
      const bars = timings
        .filter(({ name }) => !name.includes("plain context"))
        .map(({ name, p50 }) => ({ name, times: p50 / ours }))
        .sort((one, other) => one.times - other.times);
      return draw.bars(`${runtime}, ${title}`, bars);
    }),
  );
  return draw.grid("How many times as long as ringfence others take", rows);
}

/**
 * What ringfence, the bare functions and the hand-written tool cost as the work grows.
 *
 * @param {readonly RuntimeResult[]} results
 */
export async function growthPlot(results) {
  const draw = await drawing();
  const rows = results.map(({ runtime, measurements }) => {
    const axes = new Set(measurements.flatMap(({ growth }) => growth?.axis ?? []));
    return [...axes].map((axis) => {
      const lines = ["ringfence", "bare fs", "hand-written tool"].flatMap((name) =>
        growthPoints(measurements, axis, name).map((point) => ({ ...point, name })),
      );
      return draw.lines(`${runtime}, ${axis}`, lines);
    });
  });
  return draw.grid("What calls cost as the work grows", rows);
}

/** @typedef {{ width: number, height: number, markup: string }} Picture */

async function drawing() {
  const Plot = await load("@observablehq/plot");
  const { parseHTML } = await load("linkedom");
  const { document } = parseHTML("<html><body></body></html>");
  const color = {
    domain: Object.keys(COLORS),
    range: Object.values(COLORS),
    unknown: COLORS["another product"],
  };

  /**
   * @param {string} title
   * @param {readonly { name: string, times: number }[]} bars
   * @returns {Picture}
   */
  function bars(title, bars) {
    const [width, height] = [330, 66 + 18 * bars.length];
    const plot = Plot.plot({
      document,
      width,
      height,
      marginLeft: 140,
      marginRight: 36,
      marginTop: 36,
      x: {
        type: "log",
        domain: [0.5, 30],
        ticks: [0.5, 1, 2, 5, 10, 20],
        tickFormat: String,
        grid: true,
        label: "times as long as ringfence",
      },
      y: { domain: bars.map(({ name }) => name), label: null },
      color,
      marks: [
        Plot.barX(bars, { y: "name", x1: 1, x2: "times", fill: "name" }),
        Plot.ruleX([1], { stroke: COLORS.ringfence, strokeWidth: 2 }),
        Plot.text(bars, {
          y: "name",
          x: (/** @type {{ times: number }} */ { times }) => Math.max(times, 1),
          text: (/** @type {{ times: number }} */ { times }) => times.toPrecision(2),
          textAnchor: "start",
          dx: 4,
        }),
        heading(title),
      ],
    });
    return { width, height, markup: plot.outerHTML };
  }

  /**
   * @param {string} title
   * @param {readonly { name: string, work: number, cost: number }[]} points
   * @returns {Picture}
   */
  function lines(title, points) {
    const [width, height] = [320, 240];
    const plot = Plot.plot({
      document,
      width,
      height,
      marginLeft: 50,
      marginTop: 36,
      marginRight: 20,
      x: decades(
        points.map(({ work }) => work),
        null,
      ),
      y: decades(
        points.map(({ cost }) => cost),
        "µs, p50",
      ),
      color,
      marks: [
        Plot.lineY(points, { x: "work", y: "cost", stroke: "name", strokeWidth: 2, marker: "dot" }),
        heading(title),
      ],
    });
    return { width, height, markup: plot.outerHTML };
  }

  /** @param {string} title */
  function heading(title) {
    return Plot.text([title], {
      frameAnchor: "top-left",
      dy: -24,
      fontWeight: "bold",
      fontSize: 11,
    });
  }

  return { bars, lines, grid };
}

/**
 * A logarithmic scale with a line for each power of ten.
 *
 * @param {readonly number[]} values
 * @param {string | null} label
 */
function decades(values, label) {
  const first = Math.floor(Math.log10(Math.min(...values)));
  const last = Math.ceil(Math.log10(Math.max(...values)));
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index));
  return {
    type: "log",
    domain: [10 ** first, 10 ** last],
    ticks,
    tickFormat: "~s",
    grid: true,
    label,
  };
}

const LEGEND_HEIGHT = 30;

/**
 * One picture of several, on white, since it is shown on dark pages too.
 *
 * @param {string} title
 * @param {readonly (readonly Picture[])[]} rows
 */
function grid(title, rows) {
  let [width, top] = [0, LEGEND_HEIGHT];
  /** @type {string[]} */
  const placed = [];
  for (const row of rows) {
    let left = 0;
    for (const picture of row) {
      placed.push(`<g transform="translate(${left},${top})">${picture.markup}</g>`);
      left += picture.width;
    }
    width = Math.max(width, left);
    top += Math.max(0, ...row.map(({ height }) => height));
  }
  const size = `width="${width}" height="${top}" viewBox="0 0 ${width} ${top}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="system-ui, sans-serif">
<title>${title}</title>
<rect width="100%" height="100%" fill="white"/>
${legend()}
<g color="#212529">
${placed.join("\n")}
</g>
</svg>
`;
}

function legend() {
  const words = Object.entries(COLORS).map(
    ([name, fill]) => `<tspan fill="${fill}" dx="16">■ ${name}</tspan>`,
  );
  return `<text x="0" y="20" font-size="12">${words.join("")}</text>`;
}
