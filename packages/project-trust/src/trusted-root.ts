import { CodedError, invariant } from "@holdfast/shared-process";
import type { DirectoryCalls } from "./calls.ts";
import { relativePath } from "./canonical.ts";
import { pathOf } from "./descriptors.ts";
import { type Absent, atName, inDirectory, type Refused, refused } from "./inside.ts";
import type { Pin } from "./pin.ts";
import { listPlace, type PlaceList, type PlaceRead, readPlace } from "./places.ts";
import { pathDetail } from "./reasons.ts";

/** What configuration has; a caller that reads more says so. */
export const DEFAULT_READ_BYTES = 1024 * 1024;
/** A read stands in the way of everything else, and has its bytes in memory. */
export const MAX_READ_BYTES = 64 * 1024 * 1024;
export const MAX_LISTED_NAMES = 10_000;

export type FileRead = PlaceRead | Absent;
export type DirectoryRead = PlaceList | Absent;

/** A trusted directory inside of `withBinding`. All that it reads lies in the very directory that is trusted. */
export interface TrustedRoot {
  /**
   * A file by its exact relative path. No link is followed, and nothing is read but a regular file on the directory's
   * own mount.
   */
  readonly readFile: (relative: string, options?: { readonly maxBytes?: number }) => FileRead;
  /** The names in a directory by its exact relative path; without one, in the trusted directory itself. */
  readonly list: (relative?: string) => DirectoryRead;
  /**
   * The trusted directory, whatever has its name by now, for the `cwd` of a spawn. A string that was read here must not
   * be used once the operation is over. Throws a `CodedError`, `trust_ended`, from then on.
   */
  readonly cwd: string;
}

export function createTrustedRoot(calls: DirectoryCalls, pin: Pin, isAlive: () => boolean): TrustedRoot {
  return Object.freeze({
    readFile: (relative: string, { maxBytes = DEFAULT_READ_BYTES }: { readonly maxBytes?: number } = {}) => {
      invariant(isLimit(maxBytes), `maxBytes is a whole number from 0 to ${MAX_READ_BYTES}`);
      const names = namesOf(relative, isAlive);
      if ("kind" in names) return names;
      return atName({ calls, pin, names, use: (place) => readPlace(calls, place, maxBytes) });
    },
    list: (relative?: string) => {
      const names = relative === undefined && isAlive() ? [] : namesOf(relative, isAlive);
      if ("kind" in names) return names;
      return inDirectory({ calls, pin, names, use: (place) => listPlace(calls, place, MAX_LISTED_NAMES) });
    },
    get cwd() {
      if (!isAlive()) throw new CodedError("trust_ended", ENDED);
      return pathOf(pin.descriptor);
    },
  });
}

const ENDED = "the operation is over, or its binding was revoked";

const isLimit = (bytes: number): boolean => Number.isSafeInteger(bytes) && bytes >= 0 && bytes <= MAX_READ_BYTES;

function namesOf(relative: unknown, isAlive: () => boolean): readonly string[] | Refused {
  if (!isAlive()) return refused("ended", ENDED);
  const path = relativePath(relative);
  return path.kind === "relative" ? path.path.split("/") : refused(path.reason, pathDetail(path.reason));
}
