// The types of checks and their figures.

/** The length of a run: two minutes, or the full figures. */
export interface Scale {
  /** The first number in the short run, the second in the long run. */
  of(short: number, long: number): number;
  long: boolean;
}

/** The settings for every check. */
export interface Setting {
  scale: Scale;
  /** Whether to run against other packages, too, in the checks that can. */
  peers: boolean;
  /** The seed of random choices, so that a run can be repeated. */
  seed: number;
  /** Prints the progress. */
  say(text: string): void;
}

/** A check: a group of rows of the table. */
export interface Check {
  /** Its name for `--only`. */
  name: string;
  run(setting: Setting): AsyncIterable<Row>;
}

/** The control: the same work in a naive way, which has to go wrong. */
export interface Control {
  what: string;
  operations: number;
  violations: number;
}

/** One row of the table. */
export type Row = Measured | NotRun;

export interface Measured {
  check: string;
  /** The tier, the package, or another word that distinguishes this row from similar rows. */
  where: string;
  operations: number;
  violations: number;
  /** The control, or the reason why there cannot be one. */
  control: Control | { none: string };
  /** The first violations, in words. */
  examples: string[];
  /** Whether the row is about another package. Its results are shown and do not decide the run. */
  isPeer?: boolean;
}

export interface NotRun {
  check: string;
  where: string;
  notRun: string;
}

export type Verdict = "holds" | "VIOLATED" | "CANNOT BITE" | "leaks" | "no leak seen" | "not run";

/** The verdict of a row. A control that does not go wrong shows that the check could not have failed. */
export function verdictOf(row: Row): Verdict {
  if ("notRun" in row) return "not run";
  if (row.isPeer) return row.violations > 0 ? "leaks" : "no leak seen";
  if (row.violations > 0) return "VIOLATED";
  const bites = "none" in row.control || row.control.violations > 0;
  return bites && row.operations > 0 ? "holds" : "CANNOT BITE";
}

/** Whether this row makes the run fail. A row that was not run does so with `--demand-all`. */
export function isFailure(row: Row, demandAll: boolean): boolean {
  const verdict = verdictOf(row);
  if (verdict === "not run") return demandAll;
  return verdict === "VIOLATED" || verdict === "CANNOT BITE";
}
