// How it is usually done: look first, act by the same path afterwards. The controls of the checks.

import fs from "node:fs";
import path from "node:path";

/**
 * Realpath, then open.
 *
 * @param {string} root
 */
export function naive(root) {
  /** @param {string} absolute */
  const demandInside = (absolute) => {
    const real = fs.realpathSync.native(absolute);
    if (real !== root && !real.startsWith(root + path.sep)) throw { code: "outside" };
  };

  return {
    name: "naive",

    /** @param {string} relative */
    async read(relative) {
      try {
        demandInside(path.join(root, relative));
        return { text: fs.readFileSync(path.join(root, relative), "utf8") };
      } catch (error) {
        return { code: codeOf(error) };
      }
    },

    /** Looks whether it is a folder, then lists what has the name. */
    async list() {
      /** @type {string[]} */
      const names = [];
      const visit = (/** @type {string} */ folder) => {
        for (const entry of fs.readdirSync(folder)) {
          const absolute = path.join(folder, entry);
          names.push(absolute);
          try {
            if (fs.lstatSync(absolute).isDirectory()) visit(absolute);
          } catch {}
        }
      };
      visit(root);
      return names;
    },

    /**
     * @param {string} relative
     * @param {string} content
     * @param {boolean} overwrite
     */
    async write(relative, content, overwrite) {
      const absolute = path.join(root, relative);
      try {
        if (overwrite) demandInside(absolute);
        else {
          demandInside(path.dirname(absolute));
          if (fs.existsSync(absolute)) return "exists";
        }
        fs.writeFileSync(absolute, content);
      } catch (error) {
        return codeOf(error);
      }
      return undefined;
    },

    /** What the naive way answers is its own affair. */
    unexpected: () => false,
    close() {},
  };
}

/** @param {unknown} error */
function codeOf(error) {
  return String(/** @type {{ code?: string }} */ (error).code ?? error);
}
