// Checks the documentation: its programs run as they are written, on the runtime that runs this test, and print
// the documented output; its other blocks are valid in their language; its links lead to existing targets.
//
// A block `text` after a program is the program's output, with `…` for parts that vary. A program without such a
// block prints nothing.

import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import {
  StdioClientTransport,
  type StdioServerParameters,
} from "@modelcontextprotocol/sdk/client/stdio.js";
import { EXPORTS, S3_EXPORTS, SUBPATHS } from "../scripts/consumer/exports.mjs";
import { commandPath } from "../scripts/lib/project.mjs";
import { type Block, blocksOf, DOCUMENTS, proseOf, textOf } from "./support/markdown.ts";
import { ModelServer } from "./support/model-server.ts";
import { commandFor, ROOT, runCommand, runProgram } from "./support/program.ts";
import { ALL_TOOLS } from "./support/tools.ts";

/** Bun gives a test five seconds, which a process may need on a busy machine. */
const LONG = { timeout: 120_000 };

const BLOCKS = DOCUMENTS.flatMap(blocksOf);
const PROGRAMS = BLOCKS.filter(({ language }) => language === "ts");

/** The commands of the documentation, each with the place where it is run. */
const COMMANDS: Readonly<Record<string, "here" | "by .ci/run">> = {
  "main job": "by .ci/run",
  tests: "by .ci/run",
  install: "here",
  mcp: "here",
};

/** A folder as a reader has one after the commands of the README, with what a program imports. */
function makeFolder(): string {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "ringfence-readme-")));
  const manifest = { name: "my-agent", version: "1.0.0", type: "module" };
  const files: Record<string, string> = {
    "package.json": `${JSON.stringify(manifest, null, 2)}\n`,
    "src/main.ts": 'import { run } from "./run.ts";\n\nrun();\n',
  };
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.join(folder, path.dirname(name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), text);
  }
  for (const name of importedPackages()) {
    const link = path.join(folder, "node_modules", name);
    const target = name === "ringfence" ? ROOT : path.join(ROOT, "node_modules", name);
    fs.mkdirSync(path.dirname(link), { recursive: true });
    fs.symlinkSync(target, link, "junction");
  }
  return folder;
}

/** The packages that programs import, by their names in node_modules. */
function importedPackages(): Set<string> {
  const imports = PROGRAMS.flatMap(({ code }) => [...code.matchAll(/ from "([^".][^"]*)"/g)]);
  const packages = imports
    .map(([, specifier = ""]) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? "")
    .filter((name) => !name.startsWith("node:"));
  return new Set(["ringfence", ...packages]);
}

/** The program as it stands there. */
function writeProgram(folder: string, { place, code }: Block): string {
  const file = path.join(folder, `${place.replaceAll(/[/:]/g, "-")}.mts`);
  fs.writeFileSync(file, code);
  return file;
}

/** The block that says what a program prints, if there is one. */
function printedBy(program: Block): string {
  const next = BLOCKS[BLOCKS.indexOf(program) + 1];
  return next?.language === "text" && next.file === program.file ? next.code : "";
}

function patternOf(expected: string): RegExp {
  const literal = expected.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  return new RegExp(`^${literal.replaceAll("…", ".*")}$`);
}

function marked(mark: string): string {
  return BLOCKS.find((block) => block.mark === mark)?.code ?? "";
}

/** What MCP clients are given, in the forms of several. */
type McpConfiguration = Record<
  "mcpServers" | "servers",
  Record<string, { command: string; args: string[] }> | undefined
>;

/** Starts a server as clients do, and has the official client read with it. */
async function useMcpServer(server: StdioServerParameters): Promise<void> {
  const client = new Client({ name: "test", version: "0" });
  try {
    await client.connect(new StdioClientTransport(server));
    const { tools } = await client.listTools();
    assert.ok(tools.some(({ name }) => name === "read_file"));
    const read = await client.callTool({ name: "read_file", arguments: { path: "package.json" } });
    assert.match(JSON.stringify(read.structuredContent), /my-agent/);
  } finally {
    await client.close();
  }
}

describe("programs", () => {
  let model: ModelServer;
  before(async () => {
    model = await ModelServer.start();
  });
  after(() => model.stop());

  for (const program of PROGRAMS) {
    test(`run as they stand: ${program.place}`, LONG, async () => {
      const folder = makeFolder();
      try {
        const file = writeProgram(folder, program);
        const ended = await runProgram(file, { cwd: folder, env: model.environment });
        assert.equal(ended.status, 0, ended.stderr);
        assert.equal(ended.stderr, "");
        assert.match(ended.stdout, patternOf(printedBy(program)));
      } finally {
        fs.rmSync(folder, { recursive: true, force: true });
      }
    });
  }

  for (const program of PROGRAMS.filter(({ code }) => code.includes("StdioServerTransport"))) {
    test(
      `an official client uses the MCP server that is shown: ${program.place}`,
      LONG,
      async () => {
        const folder = makeFolder();
        try {
          const [command, ...args] = commandFor(writeProgram(folder, program));
          await useMcpServer({ command, args, cwd: folder });
        } finally {
          fs.rmSync(folder, { recursive: true, force: true });
        }
      },
    );
  }

  test("are correct for a strict consumer, all of them", LONG, async () => {
    const folder = makeFolder();
    try {
      const files = PROGRAMS.map((program) => writeProgram(folder, program));
      const types = ["--types", "node", "--typeRoots", path.join(ROOT, "node_modules", "@types")];
      const { status, stdout } = await runCommand(
        process.env.npm_node_execpath ?? "node",
        [
          commandPath("typescript", "tsc"),
          ...["--noEmit", "--target", "es2023", "--module", "nodenext", "--skipLibCheck"],
          ...["--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes"],
          ...[...types, ...files],
        ],
        { cwd: folder },
      );
      assert.equal(status, 0, stdout);
    } finally {
      fs.rmSync(folder, { recursive: true, force: true });
    }
  });
});

// H4: paths in the documentation that a reader would have to create first. Variants: roots
// in configurations, in commands and in prose.
test("second look H4: no document names a folder that a reader does not have", () => {
  for (const document of DOCUMENTS) {
    const absolute = textOf(document).matchAll(
      /["'`( =](\/(?:srv|home|Users|path|var|opt|workspace)\/[^"'`\s)]*)/g,
    );
    for (const [, found = ""] of absolute) {
      // `~/my-agent`, which the README's first commands make, where a client wants it absolute.
      assert.match(found, /^\/home\/me\/my-agent\b/, `${document}: ${found}`);
    }
  }
});

describe("other blocks", () => {
  test("are all of a kind that is checked here", () => {
    for (const { place, language } of BLOCKS) {
      assert.ok(["ts", "sh", "json", "jsonc", "text"].includes(language), `${place}: ${language}`);
    }
    for (const document of DOCUMENTS) {
      const fences = textOf(document).match(/```|~~~/g)?.length ?? 0;
      const found = blocksOf(document).length;
      assert.equal(fences, 2 * found, `${document} has a fence that is indented or not closed`);
    }
  });

  test("text follows the program that prints it", () => {
    for (const [index, { place, language, file }] of BLOCKS.entries()) {
      if (language !== "text") continue;
      const before = BLOCKS[index - 1];
      assert.deepEqual([before?.language, before?.file], ["ts", file], place);
    }
  });

  for (const { place, code } of BLOCKS.filter(({ language }) => /^jsonc?$/.test(language))) {
    test(`JSON parses: ${place}`, () => {
      // Comments reach to the end of their line, and no text of ours has `//` in it.
      const value: unknown = JSON.parse(code.replaceAll(/\s\/\/.*$/gm, ""));
      assert.equal(typeof value, "object");
    });
  }

  test(
    "the way into a project, and to MCP clients, works as it stands, without a registry",
    LONG,
    async () => {
      const home = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "ringfence-home-")));
      const folder = makeFolder();
      const project = path.join(home, "my-agent");
      const placed = (text: string) =>
        text.replaceAll("/home/me", home).replaceAll(/\$\{\w+\}/g, project);
      const env = { HOME: home, npm_config_offline: "true", npm_config_cache: `${home}/.npm` };
      try {
        const program = 'import { readFile } from "ringfence"; console.log(typeof readFile);';
        const imported = `node --input-type=module -e '${program}'`;
        // The package of this checkout, in place of the one that a registry would have.
        await runCommand("npm", ["pack", "--pack-destination", home], { env });
        const install = marked("install").replace("npm install ringfence", "npm install ~/*.tgz");
        const script = ["set -e", install, imported, placed(marked("mcp"))].join("\n");
        const { status, stdout, stderr } = await runCommand("bash", ["-c", script], { env });
        assert.equal(status, 0, stderr);
        assert.match(stdout, /function\n$/);

        const configurations = BLOCKS.filter(({ code }) => /"(?:mcpServers|servers)"/.test(code));
        assert.equal(configurations.length, 3);
        for (const { code } of configurations) {
          const { mcpServers, servers } = JSON.parse(placed(code)) as McpConfiguration;
          const [server] = Object.values(mcpServers ?? servers ?? {});
          assert.ok(server);
          const variables = { PATH: process.env.PATH ?? "", ...env };
          await useMcpServer({ ...server, env: variables, cwd: project });
        }
      } finally {
        fs.rmSync(home, { recursive: true, force: true });
        fs.rmSync(folder, { recursive: true, force: true });
      }
    },
  );

  test("every command is known here", () => {
    for (const { place, mark, language } of BLOCKS) {
      if (language === "sh") assert.ok(Object.hasOwn(COMMANDS, mark), `${place}: ${mark}`);
    }
    const script = textOf(".ci/run");
    for (const [mark, where] of Object.entries(COMMANDS)) {
      assert.equal(BLOCKS.filter((block) => block.mark === mark).length, 1, mark);
      if (where === "by .ci/run") assert.ok(script.includes(`readme_command '${mark}'`), mark);
    }
  });
});

test("the threat model names an existing file for each promise", () => {
  const [, promises = ""] = textOf("docs/threat-model.md").split(/^## What is promised$/m);
  const [table = "", rest = ""] = promises.split(/^## What is not promised$/m);
  const rows = table
    .split("\n")
    .filter((line) => /^\| [a-z]/.test(line) && !/^\| against/.test(line));
  assert.ok(rows.length > 20);
  const named = (text: string) => [...text.matchAll(/`((?:__test__|src|fuzz)\/[^`]+)`/g)];
  for (const row of rows) assert.ok(named(row).length > 0, row);
  for (const [, file = ""] of [...rows.flatMap(named), ...named(rest)]) {
    assert.match(textOf(file), /\btest\(|#\[test\]|\bassert!/, `${file} has tests`);
  }
});

test("every export is on one of the pages", () => {
  const pages = DOCUMENTS.map(textOf).join("\n");
  for (const name of [...EXPORTS, ...Object.values(SUBPATHS).flat(), ...S3_EXPORTS]) {
    assert.match(pages, new RegExp(`\\b${name}\\b`), name);
  }
});

// H9: facts that a reader has to guess: a host's word, a tool, a page, an export.
describe("second look H9: the README lists all exports and pages", () => {
  const readme = textOf("README.md");
  const section = (title: string) =>
    readme.split(/^## /m).find((text) => text.startsWith(title)) ?? "";

  test("second look H9: its index has every export", () => {
    const index = section("All exports");
    for (const name of [...EXPORTS, ...Object.values(SUBPATHS).flat(), ...S3_EXPORTS]) {
      assert.ok(index.includes(`\`${name}\``), name);
    }
  });

  test("second look H9: the table of tools comes first, and explains the words of hosts", () => {
    const [first = ""] = readme.split(/^## /m).slice(1);
    assert.match(first, /^What it can do/);
    for (const tool of ALL_TOOLS) {
      assert.ok(first.includes(`| \`${tool}\` |`), tool);
    }
    for (const word of ["space", "chat", "DocPath", "boot prompt", "catalog", "aptix"]) {
      const [, explanation = ""] = first.split(`*${word}*`);
      assert.match(explanation, /^(?:,| \(| of)/, word);
      assert.ok(!readme.split("## What it can do")[0]?.includes(word), `${word} stands before`);
    }
  });

  test("second look H9: every page is listed", () => {
    const pages = section("All pages");
    for (const document of DOCUMENTS) {
      if (!document.startsWith("docs/") || document === "docs/torture.md") continue;
      assert.ok(pages.includes(`](${document})`), document);
    }
  });
});

describe("links", () => {
  /** The names that headings have as targets of links, as GitHub makes them. */
  function anchorsOf(document: string): string[] {
    const headings = proseOf(document).matchAll(/^#+ (.*)$/gm);
    return [...headings].map(([, title = ""]) =>
      title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
        .replaceAll(" ", "-"),
    );
  }

  for (const document of DOCUMENTS) {
    test(`lead to files that exist and are packed: ${document}`, () => {
      const { files } = JSON.parse(textOf("package.json")) as { files: string[] };
      for (const [, target = ""] of proseOf(document).matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^https:/.test(target)) continue;
        const [file = "", anchor] = target.split("#");
        const found = file === "" ? document : path.posix.join(path.posix.dirname(document), file);
        assert.ok(fs.existsSync(path.join(ROOT, found)), `${document}: ${target}`);
        const glob = `${path.posix.dirname(found)}/*${path.extname(found)}`;
        const packed = ["README.md", "SECURITY.md"].includes(found) || files.includes(glob);
        assert.ok(packed, `${document}: ${target} is not in the package`);
        if (anchor !== undefined) {
          assert.ok(
            anchorsOf(found).includes(decodeURIComponent(anchor)),
            `${document}: ${target}`,
          );
        }
      }
    });
  }
});
