// The naive way, for the controls: check a path first, then act by the same path.

import fs from "node:fs";
import path from "node:path";

/**
 * Realpath, then open.
 *
 * @param {string} root
 * @param {string} forbidden A folder that is neither read nor changed, which can lie in the root.
 */
export function naive(root, forbidden) {
  /** @param {string} absolute */
  const demandAllowed = (absolute) => {
    const real = fs.realpathSync.native(absolute);
    if (!isIn(root, real) || isIn(forbidden, real)) throw { code: "refused" };
  };

  return {
    name: "naive",

    /** @param {string} relative */
    async read(relative) {
      try {
        demandAllowed(path.join(root, relative));
        return { text: fs.readFileSync(path.join(root, relative), "utf8") };
      } catch (error) {
        return { code: codeOf(error) };
      }
    },

    /** Checks that a path is a folder, then lists it by the same path. */
    async list() {
      /** @type {string[]} */
      const names = [];
      const visit = (/** @type {string} */ folder) => {
        for (const entry of fs.readdirSync(folder)) {
          const absolute = path.join(folder, entry);
          if (absolute === forbidden) continue;
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
     * Checks that a path is a folder or a file, then lists or reads it by the same path.
     *
     * @param {string} relative
     */
    async search(relative) {
      /** @type {string[]} */
      const lines = [];
      const visit = (/** @type {string} */ folder) => {
        for (const entry of fs.readdirSync(folder)) {
          const absolute = path.join(folder, entry);
          if (absolute === forbidden) continue;
          try {
            const status = fs.lstatSync(absolute);
            if (status.isDirectory()) visit(absolute);
            else if (status.isFile()) lines.push(fs.readFileSync(absolute, "utf8"));
          } catch {}
        }
      };
      try {
        demandAllowed(path.join(root, relative));
        visit(path.join(root, relative));
      } catch {}
      return lines;
    },

    /**
     * @param {string} relative
     * @param {string} content
     * @param {boolean} overwrite
     */
    async write(relative, content, overwrite) {
      const absolute = path.join(root, relative);
      try {
        if (overwrite) demandAllowed(absolute);
        else {
          demandAllowed(path.dirname(absolute));
          if (fs.existsSync(absolute)) return "exists";
        }
        fs.writeFileSync(absolute, content);
      } catch (error) {
        return codeOf(error);
      }
      return undefined;
    },

    /**
     * @param {string} relative
     * @param {string} old
     * @param {string} now
     */
    async edit(relative, old, now) {
      const absolute = path.join(root, relative);
      try {
        demandAllowed(absolute);
        const text = fs.readFileSync(absolute, "utf8");
        // What it has read outside must not come to stand inside, where the other side would read it.
        if (!text.startsWith("in")) return { told: text };
        if (!text.includes(old)) return { told: text, code: "NO_MATCH" };
        fs.writeFileSync(absolute, text.replace(old, now));
        return { told: text };
      } catch (error) {
        return { told: "", code: codeOf(error) };
      }
    },

    /**
     * @param {string} relative
     * @param {string} to
     */
    async move(relative, to) {
      const [absolute, target] = [path.join(root, relative), path.join(root, to)];
      try {
        demandAllowed(absolute);
        demandAllowed(path.dirname(target));
        fs.renameSync(absolute, target);
        return { told: "" };
      } catch (error) {
        return { told: "", code: codeOf(error) };
      }
    },

    /** @param {string} relative */
    async remove(relative) {
      const absolute = path.join(root, relative);
      try {
        demandAllowed(absolute);
        removeAll(absolute);
        return { told: "" };
      } catch (error) {
        return { told: "", code: codeOf(error) };
      }
    },

    /**
     * One change after the other.
     *
     * @param {import("./patches.mjs").Change[]} changes
     */
    async patch(changes) {
      for (const { path, to = path, before, after } of changes) {
        if (before === undefined) await this.write(path, after ?? "", false);
        else if (after === undefined) await this.remove(path);
        else {
          if (to !== path) await this.move(path, to);
          if (after !== before) await this.edit(to, before, after);
        }
      }
      return { told: "", applied: [] };
    },

    /** Answers of the naive way are not judged. */
    unexpected: () => false,
    close() {},
  };
}

/**
 * Whether a path is that of a folder, or of something in it.
 *
 * @param {string} folder
 * @param {string} absolute
 */
function isIn(folder, absolute) {
  return absolute === folder || absolute.startsWith(folder + path.sep);
}

/**
 * As `fs.rmSync` of Node 20 does it. Later versions of Node use handles on some systems.
 *
 * @param {string} absolute
 */
export function removeAll(absolute) {
  if (!fs.lstatSync(absolute).isDirectory()) return fs.unlinkSync(absolute);
  for (const name of fs.readdirSync(absolute)) removeAll(path.join(absolute, name));
  fs.rmdirSync(absolute);
}

/** @param {unknown} error */
export function codeOf(error) {
  return String(/** @type {{ code?: string }} */ (error).code ?? error);
}
