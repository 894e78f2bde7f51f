// Unified diffs of texts, for a person who approves a change.

/** How many lines around a change are shown. */
const CONTEXT = 3;

/**
 * The most edits that are searched for. Texts that differ in more lines are shown as all old lines, then
 * all new lines, because the search takes quadratic time.
 */
const MAX_EDITS = 1000;

interface Step {
  readonly mark: " " | "-" | "+";
  /** With its line feed. Only the last line of a text may have none. */
  readonly line: string;
}

/** The unified diff from `before` to `after`. `before` is `null` for a new file, `after` for a deleted one. */
export function unifiedDiff(path: string, before: string | null, after: string | null): string {
  const head = `--- ${nameOf("a", path, before)}\n+++ ${nameOf("b", path, after)}\n`;
  return head + hunksOf(stepsOf(linesOf(before ?? ""), linesOf(after ?? ""))).join("");
}

function nameOf(side: "a" | "b", path: string, text: string | null): string {
  return text === null ? "/dev/null" : `${side}/${path}`;
}

function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function stepsOf(before: readonly string[], after: readonly string[]): Step[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start])
    start += 1;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const removed = before.slice(start, before.length - end);
  const added = after.slice(start, after.length - end);
  return [
    ...marked(" ", before.slice(0, start)),
    ...(shortestEdit(removed, added) ?? [...marked("-", removed), ...marked("+", added)]),
    ...marked(" ", before.slice(before.length - end)),
  ];
}

function marked(mark: Step["mark"], lines: readonly string[]): Step[] {
  return lines.map((line) => ({ mark, line }));
}

/**
 * The shortest edit script, by Myers, "An O(ND) Difference Algorithm and Its Variations". `null` if it has
 * more than `MAX_EDITS` edits.
 */
function shortestEdit(before: readonly string[], after: readonly string[]): Step[] | null {
  // For each number of edits, how far each diagonal gets in `before`.
  const reached: Map<number, number>[] = [];
  let last = new Map([[1, 0]]);
  for (let edits = 0; edits <= MAX_EDITS; edits += 1) {
    const now = new Map<number, number>();
    reached.push(now);
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = isDown(last, diagonal, edits)
        ? (last.get(diagonal + 1) ?? 0)
        : (last.get(diagonal - 1) ?? 0) + 1;
      while (
        x < before.length &&
        x - diagonal < after.length &&
        before[x] === after[x - diagonal]
      ) {
        x += 1;
      }
      now.set(diagonal, x);
      if (x >= before.length && x - diagonal >= after.length)
        return walkBack(reached, before, after);
    }
    last = now;
  }
  return null;
}

/** Whether the last edit before a diagonal adds a line. If not, it removes one. */
function isDown(last: ReadonlyMap<number, number>, diagonal: number, edits: number): boolean {
  if (diagonal === -edits) return true;
  if (diagonal === edits) return false;
  return (last.get(diagonal - 1) ?? -1) < (last.get(diagonal + 1) ?? -1);
}

function walkBack(
  reached: readonly ReadonlyMap<number, number>[],
  before: readonly string[],
  after: readonly string[],
): Step[] {
  const steps: Step[] = [];
  let x = before.length;
  let y = after.length;
  for (let edits = reached.length - 1; edits >= 0; edits -= 1) {
    const last = reached[edits - 1] ?? new Map([[1, 0]]);
    const down = isDown(last, x - y, edits);
    const diagonal = down ? x - y + 1 : x - y - 1;
    const fromX = last.get(diagonal) ?? 0;
    const fromY = fromX - diagonal;
    const toX = down ? fromX : fromX + 1;
    for (; x > toX; x -= 1, y -= 1) steps.push({ mark: " ", line: before[x - 1] as string });
    if (edits === 0) break;
    if (down) steps.push({ mark: "+", line: after[fromY] as string });
    else steps.push({ mark: "-", line: before[fromX] as string });
    x = fromX;
    y = fromY;
  }
  return steps.reverse();
}

/** The changed parts, each with the lines around it. */
function hunksOf(steps: readonly Step[]): string[] {
  const hunks: string[] = [];
  let at = { before: 0, after: 0 };
  let from = 0;
  for (let index = 0; index < steps.length; ) {
    if (steps[index]?.mark === " ") {
      index += 1;
      continue;
    }
    const start = Math.max(from, index - CONTEXT);
    at = advanced(at, steps.slice(from, start));
    const end = hunkEnd(steps, index);
    const hunk = steps.slice(start, end);
    const next = advanced(at, hunk);
    hunks.push(hunkText(at, next, hunk));
    [at, from, index] = [next, end, end];
  }
  return hunks;
}

/** The end of a hunk. Changes at most `2 * CONTEXT` lines apart share one hunk. */
function hunkEnd(steps: readonly Step[], first: number): number {
  let end = first;
  for (let index = first; index < steps.length && index <= end + 2 * CONTEXT; index += 1) {
    if (steps[index]?.mark !== " ") end = index;
  }
  return Math.min(steps.length, end + 1 + CONTEXT);
}

interface Place {
  before: number;
  after: number;
}

function advanced(place: Place, steps: readonly Step[]): Place {
  const added = steps.filter(({ mark }) => mark === "+").length;
  const removed = steps.filter(({ mark }) => mark === "-").length;
  const kept = steps.length - added - removed;
  return { before: place.before + removed + kept, after: place.after + added + kept };
}

function hunkText(from: Place, to: Place, steps: readonly Step[]): string {
  const range = (start: number, end: number) =>
    end === start ? `${start},0` : `${start + 1},${end - start}`;
  const ranges = `-${range(from.before, to.before)} +${range(from.after, to.after)}`;
  return `@@ ${ranges} @@\n${steps.map(stepText).join("")}`;
}

function stepText({ mark, line }: Step): string {
  return line.endsWith("\n") ? mark + line : `${mark}${line}\n\\ No newline at end of file\n`;
}
