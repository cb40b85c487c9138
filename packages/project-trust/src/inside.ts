import { errnoOf, reasonOf } from "@holdfast/shared-process";
import type { DirectoryCalls } from "./calls.ts";
import type { PathReason } from "./canonical.ts";
import { closeDescriptor } from "./descriptors.ts";
import type { Pin } from "./pin.ts";
import type { DeniedReason } from "./reasons.ts";
import { openPlace, type Reached, stepInto } from "./walk.ts";

/**
 * `other_mount`: something is mounted inside. `too_large`: more bytes, or names, than allowed. `ended`: the operation
 * is over, or its binding was revoked.
 */
export type RefusedReason =
  | PathReason
  | "symlink"
  | "not_a_directory"
  | "not_a_file"
  | "other_mount"
  | "too_large"
  | "unreadable"
  | "unsupported_platform"
  | "ended";

export interface Refused {
  readonly kind: "refused";
  readonly reason: RefusedReason;
  readonly detail: string;
}

export interface Absent {
  readonly kind: "absent";
}

export const refused = (reason: RefusedReason, detail: string): Refused => ({ kind: "refused", reason, detail });

/** What lies inside of a held directory, and is to be used while it is open as a place. */
interface Inside<T> {
  readonly calls: DirectoryCalls;
  readonly pin: Pin;
  readonly names: readonly string[];
  readonly use: (place: Pick<Reached, "descriptor" | "seen">) => T;
}

/**
 * Goes down from the held directory itself, each component in the one before, and never through a link or to another
 * mount.
 */
export function inDirectory<T>({ calls, pin, names, use }: Inside<T>): T | Absent | Refused {
  let at: Pick<Reached, "descriptor" | "seen"> | null = null;
  try {
    for (const [index, name] of names.entries()) {
      const path = names.slice(0, index + 1).join("/");
      const next = stepInto(calls, at?.descriptor ?? pin.descriptor, { name, path });
      if (at !== null) closeDescriptor(calls, at.descriptor);
      at = next.kind === "denied" ? null : next;
      if (next.kind === "denied") return refusedStep(next.reason, next.detail);
      const crossed = crossing(calls, pin, { ...next, path });
      if (crossed !== null) return crossed;
    }
    return use(at ?? { descriptor: pin.descriptor, seen: calls.fstat(pin.descriptor) });
  } catch (error) {
    return fromError(error);
  } finally {
    if (at !== null) closeDescriptor(calls, at.descriptor);
  }
}

/** The same for what has the last name, whatever it is. */
export function atName<T>({ calls, pin, names, use }: Inside<T>): T | Absent | Refused {
  const open = (directory: number): T | Refused => {
    const place = openPlace(calls, directory, names.at(-1) ?? "");
    try {
      return crossing(calls, pin, { ...place, path: names.join("/") }) ?? use(place);
    } finally {
      closeDescriptor(calls, place.descriptor);
    }
  };
  return inDirectory({ calls, pin, names: names.slice(0, -1), use: ({ descriptor }) => open(descriptor) });
}

/**
 * A mount inside shows what somebody else put there. Directories are told by their device, too, as a subvolume has one
 * of its own; of files that says nothing on an overlay, which gives them that of their layer.
 */
function crossing(
  calls: DirectoryCalls,
  pin: Pin,
  { descriptor, seen, path }: Pick<Reached, "descriptor" | "seen"> & { readonly path: string },
): Refused | null {
  const isOfDevice = seen.kind !== "directory" || seen.device === pin.identity.device;
  if (isOfDevice && calls.mountOf(descriptor) === pin.mount) return null;
  return refused("other_mount", `${path} is on another mount`);
}

/** A name that vanished between two calls is absent, as one that was never there. */
function fromError(error: unknown): Absent | Refused {
  if (errnoOf(error) === "ENOENT") return { kind: "absent" };
  if (errnoOf(error) === null) throw error;
  return refused("unreadable", reasonOf(error));
}

function refusedStep(reason: DeniedReason, detail: string): Absent | Refused {
  if (reason === "missing") return { kind: "absent" };
  const told = reason === "symlink" || reason === "not_a_directory" || reason === "unsupported_platform";
  return refused(told ? reason : "unreadable", detail);
}
