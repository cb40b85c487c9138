import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach } from "vitest";
import { createObserver, type OwnedProcess, spawnOwned } from "../src/index.ts";

/** By the strongest back-end that this machine has. */
export const observer = createObserver({ mode: "narrow" });

/** With the library, and as on a machine that lacks it. */
export const backends = [
  { name: "pidfd", library: "at-first-use", observer, basis: "kernel-id", via: "pidfd" },
  {
    name: "narrow",
    library: "never",
    observer: createObserver({ mode: "narrow", library: "never" }),
    basis: "start-time",
    via: "narrow-window",
  },
] as const;

export const fixture = (name: string): string => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));
export const baseEnv = { PATH: process.env["PATH"] ?? "/usr/bin:/bin" };

const undo: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step();
});

export function atEnd(step: () => void | Promise<void>): void {
  undo.push(step);
}

export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-process-"));
  atEnd(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Starts a program that the test owns; what is left of its group when the test ends is killed through its handle. */
export async function start(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<OwnedProcess> {
  const launched = await spawnOwned({ command, args, env: { ...baseEnv, ...env }, cwd: "/" });
  if (launched.kind === "failed") throw new Error(`${launched.code}: ${launched.message}`);
  atEnd(async () => {
    await launched.process.signalGroup("SIGKILL");
    await launched.process.exited;
  });
  return launched.process;
}

export async function eventually(condition: () => boolean, what: string, deadlineMs = 5_000): Promise<void> {
  const end = performance.now() + deadlineMs;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`It never became true that ${what}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
  }
}

/** Each line that it writes, as long as somebody asks. */
export async function* linesOf(process: OwnedProcess): AsyncGenerator<string, void, void> {
  let text = "";
  for await (const chunk of process.stdout) {
    text += String(chunk);
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n")) {
      yield text.slice(0, end);
      text = text.slice(end + 1);
    }
  }
}

export async function firstLine(process: OwnedProcess): Promise<string> {
  const { value } = await linesOf(process).next();
  return value ?? "";
}
