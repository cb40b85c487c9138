import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach } from "vitest";
import { createObserver, type OwnedProcess, spawnOwned } from "../src/index.ts";

export const observer = createObserver({ mode: "narrow" });
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

export async function firstLine(process: OwnedProcess): Promise<string> {
  let text = "";
  for await (const chunk of process.stdout) {
    text += String(chunk);
    if (text.includes("\n")) break;
  }
  return text.split("\n")[0] ?? "";
}
