import { publishFile, readBounded, removeFile } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import type { Clock } from "@holdfast/shared-process";
import { safeParse } from "zod/mini";
import { nullable, number, object, string } from "zod/mini";

/** At most so many tries in so long, of all workers of a home together (DESIGN §4). */
export const MAX_TRIES = 5;
const WINDOW_MS = 5 * 60_000;
/** Longer than a supervisor takes from its start to its claim, also on a loaded machine; from then on its record answers for it. */
const APART_MS = 5_000;

const NAME = /^successor-([1-9]\d{0,14})$/;
const MAX_BYTES = 1_024;
/** On the clock that counts from this boot. */
const trySchema = object({ bootId: nullable(string()), at: number() });

interface Try {
  readonly number: number;
  readonly path: string;
  /** Within the window. */
  readonly at: number | null;
}

export interface TriesOptions {
  readonly home: string;
  readonly fs: FileSystem;
  readonly clock: Clock;
  readonly bootId: string | null;
}

export type Taken =
  | { readonly kind: "taken"; readonly count: number }
  /** Another worker has just tried. */
  | { readonly kind: "wait" }
  | { readonly kind: "spent" };

/**
 * Takes one of the tries that the workers of a home share. Each is a file `run/successor-<n>`, published under the next number: two workers
 * that look at the same moment want the same name, and one gets it. Throws where none can be written: what is not counted is not done.
 */
export function takeTry(options: TriesOptions): Taken {
  const { home, fs, clock, bootId } = options;
  const now = clock.monotonic();
  const all = triesOf(options, now);
  const recent = all.flatMap(({ at }) => at ?? []);
  if (recent.length >= MAX_TRIES) return { kind: "spent" };
  if (recent.some((at) => now - at < APART_MS)) return { kind: "wait" };
  const path = `${home}/run/successor-${1 + Math.max(0, ...all.map(({ number: used }) => used))}`;
  if (publishFile(fs, path, `${JSON.stringify({ bootId, at: now })}\n`).kind === "exists") return { kind: "wait" };
  // The highest name stays, so that numbers only grow.
  for (const old of all) if (old.at === null) removeFile(fs, old.path);
  return { kind: "taken", count: recent.length + 1 };
}

function triesOf({ home, fs, bootId }: TriesOptions, now: number): readonly Try[] {
  const folder = `${home}/run`;
  return fs.readdir(folder).flatMap((name) => {
    const match = NAME.exec(name);
    if (!match) return [];
    const path = `${folder}/${name}`;
    const read = readTry(fs, path);
    const counts = read !== null && read.bootId === bootId && read.at <= now && now - read.at < WINDOW_MS;
    return [{ number: Number(match[1]), path, at: counts ? read.at : null }];
  });
}

function readTry(fs: FileSystem, path: string): { readonly bootId: string | null; readonly at: number } | null {
  const read = readBounded(fs, path, MAX_BYTES);
  if (read.kind !== "read") return null;
  try {
    const parsed = safeParse(trySchema, JSON.parse(Buffer.from(read.bytes).toString("utf8")));
    return parsed.success ? parsed.data : null;
  } catch {
    // Not one of ours, or of a disk that lost it: its number counts, its time does not.
    return null;
  }
}
