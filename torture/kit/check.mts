// What a check is, and what its figures mean.

/** How much is done: a run of two minutes, or the full figures. */
export interface Scale {
  /** One of two numbers: of the short run, or of the long one. */
  of(short: number, long: number): number;
  long: boolean;
}

/** What every check is given. */
export interface Setting {
  scale: Scale;
  /** Also run against other packages, where a check can. */
  peers: boolean;
  /** Where random choices start, so that a run can be repeated. */
  seed: number;
  /** Says what is going on, while it does. */
  say(text: string): void;
}

/** Some rows of the table that belong together. */
export interface Check {
  /** What `--only` calls it. */
  name: string;
  run(setting: Setting): AsyncIterable<Row>;
}

/** The same done in a naive way, which has to go wrong. */
export interface Control {
  what: string;
  operations: number;
  violations: number;
}

/** One row of the table. */
export type Row = Measured | NotRun;

export interface Measured {
  check: string;
  /** The tier, the package, or what else tells this row from its neighbours. */
  where: string;
  operations: number;
  violations: number;
  /** A reason stands in the place of a control that there cannot be. */
  control: Control | { none: string };
  /** The first violations, in words. */
  examples: string[];
  /** Another package than ringfence: what it does is shown, and decides nothing. */
  isPeer?: boolean;
}

export interface NotRun {
  check: string;
  where: string;
  notRun: string;
}

export type Verdict = "holds" | "VIOLATED" | "CANNOT BITE" | "leaks" | "no leak seen" | "not run";

/** What a row says. A control that does not go wrong shows that the check could not have failed. */
export function verdictOf(row: Row): Verdict {
  if ("notRun" in row) return "not run";
  if (row.isPeer) return row.violations > 0 ? "leaks" : "no leak seen";
  if (row.violations > 0) return "VIOLATED";
  const bites = "none" in row.control || row.control.violations > 0;
  return bites && row.operations > 0 ? "holds" : "CANNOT BITE";
}

/** Whether a run with this row has failed. What was not run has, if all of it was demanded. */
export function isFailure(row: Row, demandAll: boolean): boolean {
  const verdict = verdictOf(row);
  if (verdict === "not run") return demandAll;
  return verdict === "VIOLATED" || verdict === "CANNOT BITE";
}
