// Swaps names with links that lead out, while files are read, listed, searched, created, overwritten, edited,
// moved and patched.

import fs from "node:fs";
import path from "node:path";
import type { AccessRules } from "../../index.js";
import type { Check, Row, Setting } from "../kit/check.mts";
import { answerOf, nativeProgram, script, start, TIERS, type Tier } from "../kit/programs.mts";
import { inScratch } from "../kit/scratch.mts";
import { installPeers, PEERS, versionOf } from "../peers/install.mts";

/** The folders of an attack: `at` is beneath the root, `out` is in the folder that must not be reached. */
export interface Place {
  at(name: string): string;
  out(name: string): string;
}

/** One way to swap names on the path of a file. */
export interface Shape {
  name: string;
  /** The folder of the requested files, relative to the root. */
  folder: string;
  /** The places where the folder may be meanwhile. */
  homes: string[];
  /** Whether the attacker removes files that were created where it swaps. */
  clears?: boolean;
  /** Whether nothing stands at the folder's path in some moments. */
  leavesGaps?: boolean;
  /** Whether a real folder is swapped, so that a listing can be attacked. */
  isListed?: boolean;
  /** The one name to create, instead of a new name each time. */
  fresh?: string;
  /** Whether no answer may tell that nothing stands at the file's path: a link leads to a denied one then. */
  hidesAbsence?: boolean;
  lay(place: Place): void;
  /** The attacker's steps: the arguments of programs/swapper.rs. */
  reading(place: Place): string[];
  /** The steps against writers, if they differ. */
  writing?(place: Place): string[];
}

/** The folder in the workspace that access rules protect. */
export const VAULT = "vault";

const file = (absolute: string) => {
  fs.mkdirSync(path.dirname(absolute), { recursive: true });
  fs.writeFileSync(absolute, "inside\n");
};

export const SHAPES: Shape[] = [
  {
    name: "folder ↔ link",
    isListed: true,
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
    isListed: true,
    folder: "dir",
    homes: ["dir", "kept"],
    clears: true,
    leavesGaps: true,
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
  fileAndLink("file ↔ link", ({ out }, name) => out(name)),
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
    isListed: true,
    folder: "top/mid/low",
    homes: ["top/mid/low", "top/other/low"],
    lay({ at, out }) {
      file(at("top/mid/low/a.txt"));
      fs.symlinkSync(path.relative(at("top"), out("")), at("top/other"));
    },
    reading: ({ at }) => ["exchange", at("top/mid"), at("top/other")],
  },
];

/** A file in the root that is swapped with a link. `target` is the text of the link at a name. */
export function fileAndLink(name: string, target: (place: Place, name: string) => string): Shape {
  return {
    name,
    folder: "",
    homes: [""],
    clears: true,
    fresh: "new.txt",
    lay(place) {
      file(place.at("a.txt"));
      fs.symlinkSync(target(place, "a.txt"), place.at("other"));
    },
    reading: ({ at }) => ["exchange", at("a.txt"), at("other")],
    // A writer replaces the files of the pair, so both are made again.
    writing: (place) => {
      const { at } = place;
      return [
        ...["link", target(place, "new.txt"), at("next"), "rename", at("next"), at("new.txt")],
        ...["remove", at("new.txt")],
        ...["link", target(place, "a.txt"), at("next"), "rename", at("next"), at("a.txt")],
        ...["file", at("next"), "inside\n", "rename", at("next"), at("a.txt")],
        ...["rest", "32", "2000"],
      ];
    },
  };
}

interface Tally {
  operations: number;
  violations: number;
  answered: number;
  refused: Record<string, number>;
  examples: string[];
  kept: string[];
}

/** What a worker answers: the results of ringfence, or of another package, and of the naive way. */
export interface Tallies {
  subject: Tally;
  control: Tally;
}

export type Action = "read" | "list" | "search" | "write" | "edit" | "move" | "patch" | "folder";

/** The names of the actions and of their controls in the table. */
const ACTIONS: Record<Action, { name: string; control: string }> = {
  read: { name: "reading", control: "realpath, then open" },
  list: { name: "listing", control: "lstat, then readdir" },
  search: { name: "searching", control: "lstat, then readFile" },
  write: { name: "creating", control: "realpath, then write" },
  move: { name: "moving and deleting", control: "realpath, then rename or rm" },
  edit: { name: "editing", control: "realpath, then read and write" },
  patch: { name: "patching", control: "realpath, then write, rename or rm" },
  folder: { name: "moving and deleting a folder", control: "realpath, then rename or rm -r" },
};

export interface Attack {
  shape: Shape;
  action: Action;
  subject: string;
  peers?: Peers;
  /** Rules that protect the folder `VAULT`, which is inside, in turns. Without them, links lead out. */
  rules?: AccessRules[];
  tier: Tier;
  operations: number;
  controls: number;
}

export const swaps: Check = {
  name: "swaps",
  async *run(setting) {
    yield* underSwaps(setting, ["read", "list", "search", "write"]);
    if (setting.peers) yield* await attackPeers(setting);
  },
};

/** Attacks some actions in every shape. */
export async function* underSwaps(setting: Setting, actions: Action[]): AsyncIterable<Row> {
  for (const shape of SHAPES) {
    for (const action of actions) {
      if (action === "list" && !shape.isListed) continue;
      for (const tier of TIERS) {
        const operations = amount(setting, action);
        const controls = Math.min(operations, setting.scale.of(3_000, 20_000));
        yield await attack({ shape, action, tier, subject: "ringfence", operations, controls });
      }
    }
  }
}

function amount({ scale }: Setting, action: Action): number {
  // Of the patches that meet a file ↔ link, only 1 in 20 to 40 is answered: each of their steps meets the attacker.
  if (action === "patch") return scale.of(2_400, 20_000);
  if (action === "edit" || action === "move") return scale.of(600, 20_000);
  return action === "read" ? scale.of(10_000, 200_000) : scale.of(2_000, 200_000);
}

/** The folder of the other packages, and the Node that runs them. */
interface Peers {
  packages: string;
  node: string;
}

/** Installs the other packages for the time of the check, and removes them afterwards. */
async function attackPeers(setting: Setting): Promise<Row[]> {
  return inScratch(async (packages) => {
    setting.say("installing the other packages from npm");
    const node = await installPeers(packages);
    const operations = setting.scale.of(4_000, 40_000);
    const rows: Row[] = [];
    for (const subject of PEERS) {
      for (const shape of SHAPES) {
        for (const action of ["read", "write"] as const) {
          setting.say(`${subject}, ${action}: ${shape.name}`);
          const peers = { packages, node };
          const settings = { shape, action, subject, peers, operations, controls: 0 };
          rows.push(await attack({ ...settings, tier: "kernel" }));
        }
      }
    }
    return rows;
  });
}

export async function attack(settings: Attack): Promise<Row> {
  const { shape, action, subject, peers, rules, tier } = settings;
  const isPeer = peers !== undefined;
  const head = {
    check: `${rules ? "rules" : "swap"}, ${ACTIONS[action].name}: ${shape.name}`,
    where: peers ? `${subject} ${versionOf(subject, peers.packages)}` : tier,
  };
  try {
    const { subject: found, control } = await inScratch((base) => fight(settings, base));
    const { operations, violations, answered, refused, examples } = found;
    if (!isPeer && answered === 0)
      throw new Error(`${head.check}: everything was refused: ${JSON.stringify(refused)}`);
    return {
      ...head,
      ...{ operations, violations, examples, isPeer },
      control: isPeer
        ? { none: `it is one itself, and refused ${operations - answered}` }
        : { what: ACTIONS[action].control, ...control },
    };
  } catch (error) {
    if (!isPeer) throw error;
    return { ...head, notRun: String((error as Error).message).split("\n")[0] ?? "" };
  }
}

async function fight(settings: Attack, base: string) {
  const { shape, action, subject, peers, rules, tier, operations, controls } = settings;
  const root = path.join(base, "ws");
  const outside = rules ? path.join(root, VAULT) : path.join(base, "outside");
  const place = {
    at: (name: string) => path.join(root, name),
    out: (name: string) => path.join(outside, name),
  };
  fs.mkdirSync(root);
  fs.mkdirSync(path.join(outside, "low"), { recursive: true });
  shape.lay(place);
  const isWriting = !["read", "list", "search"].includes(action);
  const steps = ((isWriting && shape.writing) || shape.reading)(place);

  const { folder, homes, clears = false, fresh = null, leavesGaps, hidesAbsence } = shape;
  const job = {
    ...{ subject, packages: peers?.packages, containment: tier, action, root, outside },
    ...{ rules, folder, homes, clears, fresh, leavesGaps, hidesAbsence },
    ...{ operations, controls, mostControls: 200_000 },
  };
  const swapper = start([nativeProgram("swapper"), ...steps]);
  await swapper.ready;
  try {
    const command = script("swap-worker.mjs", tier, JSON.stringify(job));
    if (peers) command[0] = peers.node;
    const worker = start(command);
    const tallies = await answerOf<Tallies>(worker);
    await swapper.finish();
    countLeftovers(root, tallies.subject);
    return tallies;
  } finally {
    await swapper.kill();
  }
}

/** The leftovers of failed or killed writes in the workspace, of which no answer has told. */
export function countLeftovers(root: string, tally: Tally): void {
  const stray = fs
    .readdirSync(root, { recursive: true })
    .map(String)
    .filter((name) => /ringfence-\d+\.txt|\.rf-/.test(name))
    .filter((name) => !tally.kept.includes(path.basename(name)));
  tally.violations += stray.length;
  tally.examples.push(...stray.slice(0, 5).map((name) => `left over: ${name}`));
}
