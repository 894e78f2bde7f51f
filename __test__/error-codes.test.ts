// docs/errors.md lists exactly the codes of the types, in their order.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { textOf } from "./support/markdown.ts";

const PAGE = textOf("docs/errors.md");
const TYPES = textOf("index.d.ts");

/** The codes of the first column of a section's tables, in order. */
function listedIn(section: string): string[] {
  const [, text] = PAGE.split(new RegExp(`^## ${section}$`, "m"));
  assert.ok(text !== undefined, `docs/errors.md has a section ${section}`);
  const [own = ""] = text.split(/^## /m);
  return [...own.matchAll(/^\| `(\w+)` \|/gm)].map(([, code = ""]) => code);
}

/** The members of a type that is a union of texts. */
function unionOf(name: string): string[] {
  return members(new RegExp(`^export type ${name} =([^;]*);`, "m").exec(TYPES)?.[1]);
}

/** The same of the property `code` of an interface. */
function codeOf(name: string, source = TYPES): string[] {
  const body = new RegExp(`^export interface ${name} .*?^}`, "ms").exec(source)?.[0];
  return members(/^ {2,4}code: ([^;]*);/m.exec(body ?? "")?.[1]);
}

function members(union: string | undefined): string[] {
  const found = [...(union ?? "").matchAll(/"(\w+)"/g)].map(([, code = ""]) => code);
  assert.ok(found.length > 0, "the type was found");
  return found;
}

const SECTIONS: [section: string, codes: string[]][] = [
  ["`readFile`", unionOf("ReadFileErrorCode")],
  ["`readFiles`", unionOf("ReadFilesErrorCode")],
  ["`readBytes`", unionOf("ReadBytesErrorCode")],
  ["`createFile`", unionOf("CreateFileErrorCode")],
  ["`readFileUri` and `resolveFileUri`", unionOf("FileUriErrorCode")],
  ["`readSourceDocument`", unionOf("ReadSourceErrorCode")],
  ["`DirectoryStore`", unionOf("DocumentStoreErrorCode")],
  ["`FileStore`", unionOf("FileStoreErrorCode")],
  ["`Workspace.open`", codeOf("WorkspaceError")],
  ["`workspaceSnapshot`", unionOf("WorkspaceSnapshotErrorCode")],
  ["`editFile`", unionOf("EditFileErrorCode")],
  ["`applyPatch`", unionOf("ApplyPatchErrorCode")],
  ["`moveFile`", unionOf("MoveFileErrorCode")],
  ["`deleteFile`", unionOf("DeleteFileErrorCode")],
  ["`searchFiles`", unionOf("SearchFilesErrorCode")],
  ["`findFiles`", unionOf("FindFilesErrorCode")],
  ["`tree`", unionOf("TreeErrorCode")],
  ["`contentHash`", codeOf("ContentHashError")],
];

describe("docs/errors.md lists exactly the codes", () => {
  for (const [section, codes] of SECTIONS) {
    test(`of ${section}`, () => assert.deepEqual(listedIn(section), codes));
  }

  test("of the toolkit's envelope, and those that its tools have beside the functions'", () => {
    const envelope = codeOf("ToolErrorInfo", textOf("toolkit/result.ts"));
    const paths = ["tools/read.ts", "fetched-page.ts", "mcp/client-roots.ts"];
    const sources = paths.map((path) => textOf(`toolkit/${path}`)).join("\n");
    const own = [...sources.matchAll(/\b(?:code\b[^;]*?|codedError\(\s*)"([A-Z_]+)"/g)];
    const beside = own.map(([, code = ""]) => code);
    const further = beside.filter((code) => !unionOf("FileUriErrorCode").includes(code));
    const all = new Set([...envelope, "INVALID_ARGUMENT", "PATH_DENIED", ...further]);
    assert.deepEqual(listedIn("The toolkit").sort(), [...all].sort());
  });

  test("of documents, which the type has as the core gives them", () => {
    const [, own = ""] = textOf("src/tools/source.rs").split("impl StoreFault {");
    const given = [...(own.split(/^}/m)[0] ?? "").matchAll(/"([A-Z0-9_]+)"/g)];
    const codes = new Set(given.map(([, code = ""]) => code));
    assert.deepEqual([...codes].sort(), unionOf("DocumentStoreErrorCode").sort());
  });

  test("of every type of error that there is", () => {
    const types = [...TYPES.matchAll(/^export (?:type|interface) (\w+Error(?:Code)?)\b/gm)];
    const documented = new Set(types.map(([, name = ""]) => name.replace(/Code$/, "")));
    assert.deepEqual(
      [...documented].sort(),
      [
        "ApplyPatchError",
        "ContentHashError",
        "CreateFileError",
        "DeleteFileError",
        "DocumentStoreError",
        "EditFileError",
        "FileStoreError",
        "FileUriError",
        "FindFilesError",
        "MoveFileError",
        "ReadBytesError",
        "ReadFileError",
        "ReadFilesError",
        "ReadSourceError",
        "SearchFilesError",
        "TreeError",
        "WorkspaceError",
        "WorkspaceSnapshotError",
      ],
      "an error type that is new gets its section",
    );
    assert.equal(SECTIONS.length, documented.size);
  });
});
