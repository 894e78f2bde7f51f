// The naive way, for the controls: check a path first, then act by the same path.

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

    /** Checks that a path is a folder, then lists it by the same path. */
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
          try {
            const status = fs.lstatSync(absolute);
            if (status.isDirectory()) visit(absolute);
            else if (status.isFile()) lines.push(fs.readFileSync(absolute, "utf8"));
          } catch {}
        }
      };
      try {
        demandInside(path.join(root, relative));
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

    /**
     * @param {string} relative
     * @param {string} old
     * @param {string} now
     */
    async edit(relative, old, now) {
      const absolute = path.join(root, relative);
      try {
        demandInside(absolute);
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
        demandInside(absolute);
        demandInside(target);
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
        demandInside(absolute);
        fs.rmSync(absolute, { recursive: true });
        return { told: "" };
      } catch (error) {
        return { told: "", code: codeOf(error) };
      }
    },

    /** Answers of the naive way are not judged. */
    unexpected: () => false,
    close() {},
  };
}

/** @param {unknown} error */
function codeOf(error) {
  return String(/** @type {{ code?: string }} */ (error).code ?? error);
}
