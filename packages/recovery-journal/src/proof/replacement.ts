import type { FileSystem } from "../file-system.ts";
import type { CrashOptions } from "../testing/crash-states.ts";
import { CHANGING, type Enumeration } from "./enumerate.ts";
import { type CallName, SimulatedDisk } from "../testing/simulated-disk.ts";

/** A way to put a whole file under a name; `false` when it did not, because somebody else's is there. */
export type Replace = (fs: FileSystem, path: string, bytes: Buffer) => Promise<boolean>;

export interface ReplacementOptions {
  readonly replace: Replace;
  /** Whether there is a file before. */
  readonly over: "a file" | "nothing";
  readonly wrap?: ((disk: SimulatedDisk) => FileSystem) | undefined;
  readonly crash: CrashOptions;
}

const PATH = "/d/f";
/** Several sectors, so that a write can tear. */
const OLD = Buffer.alloc(1500, "o");
const NEW = Buffer.alloc(1800, "n");
const NEWEST = Buffer.alloc(1300, "w");

/** Puts a file in place with a power cut after every changing call, and again on every such disk with a second power cut. */
export async function enumerateReplacement(options: ReplacementOptions): Promise<Enumeration> {
  const found: Enumeration = { calls: 0, states: 0, recoveries: 0, nested: 0, problems: [] };
  const disk = new SimulatedDisk();
  disk.mkdir("/d", 0o700);
  if (options.over === "a file") disk.plant(PATH, OLD);
  for (const path of ["/", "/d"]) disk.fsync(disk.open(path, 0));
  const crashed: SimulatedDisk[] = [];
  const kept = { before: said(disk), asked: NEW };
  await replaceOnce(disk, kept, {
    options,
    found,
    onState: (state) => {
      found.states += 1;
      crashed.push(state);
    },
    onCall: () => (found.calls += 1),
  });
  for (const state of crashed) {
    found.recoveries += 1;
    const onState = (): void => void (found.nested += 1);
    await replaceOnce(state, { before: said(state), asked: NEWEST }, { options, found, onState });
  }
  return found;
}

/** The old bytes or the new ones at every moment, and only the new ones once the call has returned. */
async function replaceOnce(
  disk: SimulatedDisk,
  content: { readonly before: string; readonly asked: Buffer },
  run: {
    readonly options: ReplacementOptions;
    readonly found: Enumeration;
    readonly onState: (state: SimulatedDisk) => void;
    readonly onCall?: () => void;
  },
): Promise<void> {
  const after = content.asked.toString("latin1");
  const check = (allowed: readonly string[], where: string): void => {
    for (const state of disk.crashStates(run.options.crash)) {
      run.onState(state);
      const there = said(state);
      if (!allowed.includes(there)) run.found.problems.push(`${where}: ${there.length} bytes that nobody wrote`);
    }
  };
  let before: CallName | null = null;
  disk.onCall = (call, path) => {
    run.onCall?.();
    if (before !== null && CHANGING.has(before)) check([content.before, after], `before ${call} ${path}`);
    before = call;
  };
  const replaced = await run.options.replace(run.options.wrap?.(disk) ?? disk, PATH, content.asked);
  disk.onCall = null;
  check([replaced ? after : content.before], "at the end");
}

function said(disk: SimulatedDisk): string {
  return disk.exists(PATH) ? disk.contentOf(PATH).toString("latin1") : "";
}
