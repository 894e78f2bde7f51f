// Runs a TypeScript program in a process of its own, on the runtime that runs the tests.

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export interface Setting {
  /** The directory to work in; the checkout, if none is given. */
  cwd?: string;
  /** Variables beside those of this process. */
  env?: Record<string, string>;
}

export interface Ended {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** The command that runs an `.mts` file. */
export function commandFor(file: string): [command: string, ...args: string[]] {
  const options = "Bun" in globalThis ? ["--no-install"] : ["--import", import.meta.resolve("tsx")];
  return [process.execPath, ...options, file];
}

/** Runs an `.mts` file to its end. */
export function runProgram(file: string, setting?: Setting): Promise<Ended> {
  const [command, ...args] = commandFor(file);
  return runCommand(command, args, setting);
}

/** Runs a command to its end, with nothing on its standard input. */
export function runCommand(
  command: string,
  args: readonly string[],
  { cwd = ROOT, env = {} }: Setting = {},
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: 60_000,
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    child.on("error", reject);
    child.on("close", (status) => resolve({ status, stdout, stderr }));
  });
}
