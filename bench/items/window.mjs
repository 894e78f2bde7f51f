// @ts-check
// 200 lines of a file of 1 MiB, at its start, in its middle and at its end.

import { lineCount, put, textOf } from "../lib/files.mjs";

const SIZE = 1_048_576;
const MAX_LINES = 200;

/** @param {import("../measure.mjs").Bench} bench */
export async function window(bench) {
  for (const script of /** @type {const} */ (["ascii", "cjk"])) {
    const text = textOf(SIZE, script);
    const path = put(bench.root, `docs/${script}.md`, text);
    for (const window of windowsOf(lineCount(text))) {
      await bench.time(
        `200 lines of 1 MiB ${script}, ${window.position}`,
        bench.contenders
          .filter((contender) => contender.window)
          .map(({ name, window: read, text }) => ({
            name,
            run: () => read?.(path, window),
            answer: text,
          })),
        { calls: 5 },
      );
    }
    await startAndEnd(bench, script, path, lineCount(text));
  }
}

/**
 * Ringfence against itself: the cost of a window must not depend on where it stands.
 *
 * @param {import("../measure.mjs").Bench} bench
 * @param {string} script
 * @param {string} path
 * @param {number} lines
 */
async function startAndEnd(bench, script, path, lines) {
  const ours = bench.contenders.find(({ name }) => name === "ringfence");
  const tasks = windowsOf(lines)
    .filter(({ position }) => position !== "middle")
    .map((window) => ({
      name: window.position,
      run: () => ours?.window?.(path, window),
      answer: (/** @type {unknown} */ output) => lineCount(ours?.text(output) ?? ""),
    }));
  await bench.time(`200 lines of 1 MiB ${script}, start and end`, tasks, { calls: 10 });
}

/**
 * @param {number} lines
 * @returns {import("../contenders/load.mjs").Window[]}
 */
function windowsOf(lines) {
  return [
    { position: "start", startLine: 1, maxLines: MAX_LINES },
    { position: "middle", startLine: Math.floor(lines / 2), maxLines: MAX_LINES },
    { position: "end", startLine: lines - MAX_LINES + 1, maxLines: MAX_LINES },
  ];
}
