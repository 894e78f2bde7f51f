// The tool `apply_patch`, docs/contract.md §11.

import type { ApplyPatchArguments } from "../../index.js";
import { rename, unwrap } from "./aliases.js";
import { array, boolean, integer, nullable, object, string } from "./result-schema.js";
import { metadataOf, type ToolDescription } from "./tool.js";

/** The arguments of `apply_patch`. */
export type ApplyPatchToolArguments = ApplyPatchArguments;

const EXAMPLE = `*** Begin Patch
*** Update File: src/main.ts
@@ function main() {
   const port = 80;
-  listen(port);
+  listen(port, "localhost");
 }
*** Add File: docs/notes.md
+# Notes
*** Delete File: src/old.ts
*** End Patch`;

const definition = {
  name: "apply_patch",
  description:
    "Changes, adds, deletes and moves files of the workspace by one patch, all of it or nothing. The patch is in " +
    `this format:\n\n${EXAMPLE}\n\n` +
    'A hunk begins with "@@", alone or with the text of an unchanged line that stands before it. Its other lines begin ' +
    'with a space (context), "-" or "+". Context and "-" lines are copied from the file, and must match in one place ' +
    'only. "*** Move to: path" on the line after "*** Update File: path" moves the file. A unified diff, as git makes ' +
    "it, is understood as well.",
  parameters: {
    type: "object",
    properties: {
      patch: {
        type: "string",
        description:
          'The whole patch, from "*** Begin Patch" to "*** End Patch", or a unified diff. Paths are relative to the ' +
          "workspace. Give about three lines of context around each change; where the same lines stand twice, give " +
          'more, or several "@@" lines. "*** End of File" as the last line of a hunk ties it to the end of the file.',
      },
    },
    required: ["patch"],
  },
} as const;

/** Names under which models send the patch, as they know them from other tools. */
const ALIASES = {
  input: "patch",
  patch_text: "patch",
  patchText: "patch",
  diff: "patch",
  expectedHashes: "expected_hashes",
  dryRun: "dry_run",
} as const;

/** Lines by which a text is known for a patch. */
const HEADER = /^[ \t]*(?:\*\*\* Begin Patch|diff --git |--- )/m;

/** The arguments for a patch that was sent alone. Broken JSON with a patch in it is none. */
function fromText(text: string): { patch: string } | null {
  return HEADER.test(text) && !/^\s*["[{]/.test(text) ? { patch: text } : null;
}

export const APPLY_PATCH = {
  definition,
  metadata: metadataOf(definition, true, "client"),
  title: "Apply a patch",
  eventName: "ApplyPatch",
  // A hunk may add its own context once more: then a second call changes the file again.
  isIdempotent: false,
  furtherParameters: { expected_hashes: { type: "object" }, dry_run: { type: "boolean" } },
  // `input` is the patch itself, or an object with the arguments.
  fold: (given: Record<string, unknown>) => rename(unwrap(given, "input", "patch"), ALIASES),
  fromText,
  examples: { patch: "*** Begin Patch\n*** Delete File: src/old.ts\n*** End Patch" },
  resultSchema: object({
    format: string,
    applied: boolean,
    files: array(
      object({
        path: string,
        action: string,
        from_path: nullable(string),
        hunks: array(object({ start_line: integer, offset: integer, match: string })),
        lines_added: integer,
        lines_removed: integer,
        before_sha256: nullable(string),
        sha256: nullable(string),
      }),
    ),
    diff: string,
    diff_truncated: boolean,
  }),
} as const satisfies ToolDescription<"apply_patch">;
