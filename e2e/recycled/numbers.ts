import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { pause } from "../support/wait-for.ts";

/** The number that the kernel gave last in this pid namespace: it looks for a free one above it. */
const LAST = "/proc/sys/kernel/ns_last_pid";
/** The number is not free until its process is reaped and its group is empty; that takes milliseconds. */
const ATTEMPTS = 400;

/** Waits for a word: until all have their numbers none may fork or start a thread, since that would take one of them. */
const GATE = 'read -r _ && exec "$@" < /dev/null';

export interface Wanted {
  readonly number: number;
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Starts programs that get exactly these numbers, each the leader of a session of its own. Their descriptors 3 are pipes that stay open.
 */
export async function takeNumbers<W extends Wanted>(all: readonly W[]): Promise<(W & { child: ChildProcess })[]> {
  const taken: (W & { child: ChildProcess })[] = [];
  for (const wanted of all) taken.push({ ...wanted, child: await takeNumber(wanted) });
  for (const { child } of taken) child.stdin?.end("go\n");
  return taken;
}

async function takeNumber({ number, command, env }: Wanted): Promise<ChildProcess> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const before = readFileSync(LAST);
    writeFileSync(LAST, String(number - 1));
    const child = spawn("bash", ["--noprofile", "--norc", "-c", GATE, "gate", ...command], {
      cwd: "/",
      detached: true,
      stdio: ["pipe", "ignore", "ignore", "pipe"],
      env,
    });
    // A daemon that lives forks now and then; it shall find numbers that nobody waits for.
    writeFileSync(LAST, before);
    if (child.pid === number) return child;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
    await pause(5);
  }
  throw new Error(`the number ${number} did not recur`);
}
