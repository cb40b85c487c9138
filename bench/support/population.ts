import { once } from "node:events";
import { createInterface } from "node:readline";
import { end, start } from "./children.ts";

/**
 * Each reads from the same descriptor and never gets anything, so that all end with this program, however it ends. The shell does
 * nothing but wait for them, and reaps each at once. They are forks of it that run no program of their own: the kernel takes
 * longer to end a larger one, which says nothing of how soon the end is noticed.
 */
const SCRIPT =
  'i=0; while [ $i -lt "$1" ]; do { read -r _ <&3; } >/dev/null & echo $!; i=$((i+1)); done; exec 3<&-; wait';

/** Idle processes of a shell: neither this program nor a watcher is their parent. */
export interface Population extends AsyncDisposable {
  readonly pids: readonly number[];
}

export async function startPopulation(count: number): Promise<Population> {
  const shell = start(["sh", "-c", SCRIPT, "sh", String(count)], { stdio: ["ignore", "pipe", "inherit", "pipe"] });
  const [, output, , lifeline] = shell.stdio;
  if (!output || !("read" in output) || !lifeline || !("write" in lifeline)) throw new Error("the shell has no pipes");
  const pids: number[] = [];
  const lines = createInterface({ input: output });
  lines.on("line", (line) => {
    pids.push(Number(line));
    if (pids.length === count) lines.close();
  });
  await once(lines, "close");
  if (pids.length < count) throw new Error(`${pids.length} of ${count} processes run`);
  return {
    pids,
    [Symbol.asyncDispose]: async () => {
      lifeline.destroy();
      await end(shell);
    },
  };
}
