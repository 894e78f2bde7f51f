// Names that are swapped for a way out while they are read, created and overwritten.

import fs from "node:fs";
import path from "node:path";
import type { Check, Row, Setting } from "../kit/check.mts";
import { answerOf, nativeProgram, script, start, TIERS, type Tier } from "../kit/programs.mts";
import { inScratch } from "../kit/scratch.mts";
import { installPeers, PEERS } from "../peers/install.mts";

/** Where an attack takes place: `at` is beneath the root, `out` is what lies outside. */
interface Place {
  at(name: string): string;
  out(name: string): string;
}

/** One way to swap what stands on the way to a file. */
interface Shape {
  name: string;
  /** The folder whose files are asked for, relative to the root. */
  folder: string;
  /** Where the folder may stand meanwhile. */
  homes: string[];
  /** The attacker removes what was made in its way. */
  clears?: boolean;
  /** The one name that is created, instead of new ones. */
  fresh?: string;
  lay(place: Place): void;
  /** What the attacker does, over and over: the arguments of programs/swapper.rs. */
  reading(place: Place): string[];
  /** The same against writers, where it is another. */
  writing?(place: Place): string[];
}

const file = (absolute: string) => {
  fs.mkdirSync(path.dirname(absolute), { recursive: true });
  fs.writeFileSync(absolute, "inside\n");
};

const SHAPES: Shape[] = [
  {
    name: "folder ↔ link",
    folder: "dir",
    homes: ["dir", "other"],
    lay({ at, out }) {
      file(at("dir/a.txt"));
      fs.symlinkSync(out(""), at("other"));
    },
    reading: ({ at }) => ["exchange", at("dir"), at("other")],
  },
  {
    name: "parent replaced",
    folder: "dir",
    homes: ["dir", "kept"],
    clears: true,
    lay({ at, out }) {
      file(at("dir/a.txt"));
      fs.symlinkSync(out(""), at("link"));
    },
    reading: ({ at }) => [
      ...["rename", at("dir"), at("kept")],
      ...["rename", at("link"), at("dir")],
      ...["rename", at("dir"), at("link")],
      ...["rename", at("kept"), at("dir")],
    ],
  },
  {
    name: "file ↔ link",
    folder: "",
    homes: [""],
    clears: true,
    fresh: "new.txt",
    lay({ at, out }) {
      file(at("a.txt"));
      fs.symlinkSync(out("a.txt"), at("other"));
    },
    reading: ({ at }) => ["exchange", at("a.txt"), at("other")],
    // A writer would use the pair up: it replaces what it finds. So both are made anew.
    writing: ({ at, out }) => [
      ...["link", out("new.txt"), at("next"), "rename", at("next"), at("new.txt")],
      ...["remove", at("new.txt")],
      ...["link", out("a.txt"), at("next"), "rename", at("next"), at("a.txt")],
      ...["file", at("next"), "inside\n", "rename", at("next"), at("a.txt")],
    ],
  },
  {
    name: "link chain",
    folder: "dir",
    homes: ["real"],
    lay({ at, out }) {
      file(at("real/a.txt"));
      fs.symlinkSync("real/../hop", at("dir"));
      fs.symlinkSync(at("real"), at("hop"));
      fs.symlinkSync(out(""), at("other"));
    },
    reading: ({ at }) => ["exchange", at("hop"), at("other")],
  },
  {
    name: "two deep",
    folder: "top/mid/low",
    homes: ["top/mid/low", "top/other/low"],
    lay({ at, out }) {
      file(at("top/mid/low/a.txt"));
      fs.symlinkSync(path.relative(at("top"), out("")), at("top/other"));
    },
    reading: ({ at }) => ["exchange", at("top/mid"), at("top/other")],
  },
];

interface Tally {
  operations: number;
  violations: number;
  examples: string[];
}

type Action = "read" | "write";

interface Attack {
  shape: Shape;
  action: Action;
  subject: string;
  packages?: string;
  tier: Tier;
  operations: number;
  controls: number;
}

export const swaps: Check = {
  name: "swaps",
  async *run(setting) {
    const { scale } = setting;
    for (const shape of SHAPES) {
      for (const action of ["read", "write"] as const) {
        for (const tier of TIERS) {
          const operations = amount(setting, action);
          const controls = Math.min(operations, scale.of(3_000, 20_000));
          yield await attack({ shape, action, tier, subject: "ringfence", operations, controls });
        }
      }
    }
    if (setting.peers) yield* peers(setting);
  },
};

function amount({ scale }: Setting, action: Action): number {
  return action === "read" ? scale.of(10_000, 200_000) : scale.of(2_000, 200_000);
}

async function* peers(setting: Setting): AsyncIterable<Row> {
  yield* inPeerFolder(setting, async function* (packages) {
    for (const subject of PEERS) {
      for (const shape of SHAPES) {
        for (const action of ["read", "write"] as const) {
          const operations = setting.scale.of(4_000, 40_000);
          yield await attack({
            ...{ shape, action, tier: "kernel", subject, packages, operations, controls: 0 },
          });
        }
      }
    }
  });
}

/** Peers are installed for the time of the check, and nothing stays of them. */
async function* inPeerFolder(
  setting: Setting,
  body: (packages: string) => AsyncIterable<Row>,
): AsyncIterable<Row> {
  const rows = await inScratch(async (packages) => {
    setting.say("installing the other packages from npm");
    await installPeers(packages);
    const rows: Row[] = [];
    for await (const row of body(packages)) {
      setting.say(`${row.where}: ${row.check}`);
      rows.push(row);
    }
    return rows;
  });
  yield* rows;
}

async function attack(settings: Attack): Promise<Row> {
  const { shape, action, subject, tier } = settings;
  const isPeer = subject !== "ringfence";
  const head = {
    check: `swap, ${action === "read" ? "reading" : "creating"}: ${shape.name}`,
    where: isPeer ? subject : tier,
  };
  try {
    const { subject: found, control } = await inScratch((base) => fight(settings, base));
    const { operations, violations, examples } = found;
    return {
      ...head,
      ...{ operations, violations, examples, isPeer },
      control: isPeer
        ? { none: "it is one itself" }
        : { what: action === "read" ? "realpath, then open" : "realpath, then write", ...control },
    };
  } catch (error) {
    if (!isPeer) throw error;
    return { ...head, notRun: String((error as Error).message).split("\n")[0] ?? "" };
  }
}

async function fight(settings: Attack, base: string) {
  const { shape, action, subject, packages, tier, operations, controls } = settings;
  const root = path.join(base, "ws");
  const outside = path.join(base, "outside");
  const place = {
    at: (name: string) => path.join(root, name),
    out: (name: string) => path.join(outside, name),
  };
  fs.mkdirSync(root);
  fs.mkdirSync(path.join(outside, "low"), { recursive: true });
  shape.lay(place);
  const steps = ((action === "write" && shape.writing) || shape.reading)(place);

  const { folder, homes, clears = false, fresh = null } = shape;
  const job = {
    ...{ subject, packages, containment: tier, action, root, outside },
    ...{ folder, homes, clears, fresh, operations, controls, mostControls: 200_000 },
  };
  const swapper = start([nativeProgram("swapper"), ...steps]);
  await swapper.ready;
  try {
    const worker = start(script("swap-worker.mjs", tier, JSON.stringify(job)));
    const tallies = await answerOf<{ subject: Tally; control: Tally }>(worker);
    await swapper.finish();
    countLeftovers(root, tallies.subject);
    return tallies;
  } finally {
    await swapper.kill();
  }
}

/** What a failed or killed write has left in the workspace. */
function countLeftovers(root: string, tally: Tally): void {
  const stray = fs
    .readdirSync(root, { recursive: true })
    .map(String)
    .filter((name) => /ringfence-\d+\.txt|\.rf-/.test(name));
  tally.violations += stray.length;
  tally.examples.push(...stray.slice(0, 5).map((name) => `left over: ${name}`));
}
