import { isDiskFull, replaceFileAsync } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";

/** Enough blocks for the records of a claim and for the stops behind it. */
const RESERVE_BYTES = 64 * 1024;

const reservePath = (home: string): string => `${home}/run/reserve`;

/** Keeps some of the disk for the day when it is full and nobody owns the home (I168). Rejects where there is no room even for it. */
export async function keepReserve(fs: FileSystem, home: string): Promise<void> {
  if (!hasReserve(fs, home)) await replaceFileAsync(fs, reservePath(home), Buffer.alloc(RESERVE_BYTES));
}

export const hasReserve = (fs: FileSystem, home: string): boolean => fs.exists(reservePath(home));

/** Runs `work`; on a full disk once more, with what was kept for that. */
export function withReserve<T>(fs: FileSystem, home: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!isDiskFull(error) || !hasReserve(fs, home)) throw error;
    fs.unlink(reservePath(home));
    return work();
  }
}
