// @ts-check
import { create } from "./create.mjs";
import { edit } from "./edit.mjs";
import { fileSystems } from "./file-systems.mjs";
import { find } from "./find.mjs";
import { growth } from "./growth.mjs";
import { loading } from "./loading.mjs";
import { loop } from "./loop.mjs";
import { memory } from "./memory.mjs";
import { move } from "./move.mjs";
import { patch } from "./patch.mjs";
import { flight, many, read } from "./read.mjs";
import { rules } from "./rules.mjs";
import { search } from "./search.mjs";
import { snapshot } from "./snapshot.mjs";
import { window } from "./window.mjs";

/**
 * What is measured in each runtime, by the names that `--only` takes.
 *
 * @type {Record<string, (bench: import("../measure.mjs").Bench) => Promise<void>>}
 */
export const items = {
  read,
  rules,
  "file-systems": fileSystems,
  window,
  flight,
  many,
  loop,
  create,
  edit,
  move,
  patch,
  loading,
  memory,
  snapshot,
  search,
  find,
  growth,
};
