import { statSync } from "node:fs";
import { createRequire } from "node:module";
import { isMainThread } from "node:worker_threads";
import { reasonOf } from "../errors.ts";
import type { Koffi as PortableKoffi } from "../observe/koffi-type.ts";
import { isExhausted } from "./descriptors.ts";

/** What Holdfast uses of the optional foreign-function library koffi 3. */
export interface Koffi extends PortableKoffi {
  /** Undocumented; see `epoll.ts` for what is asked of it. */
  readonly node: { poll(fd: number, options: object, callback: (status: number) => void): { unref(): void } };
}

export type LoadedKoffi =
  | { readonly kind: "loaded"; readonly koffi: Koffi }
  | { readonly kind: "absent"; readonly reason: string; readonly passing: boolean };

let loaded: LoadedKoffi | null = null;

/**
 * Loads it at the first call, which takes 10 to 15 ms and 3.7 MB; never at import. In worker threads it has crashed and kept
 * processes from ending (Koromix/koffi 190, 274), so there it is absent. What failed for want of a descriptor is tried again.
 */
export function loadKoffi(): LoadedKoffi {
  if (loaded !== null) return loaded;
  const found = requireKoffi();
  if (found.kind === "loaded" || !found.passing) loaded = found;
  return found;
}

/**
 * Requires a package that may be behind a link. Node 20 stops following links where the last look of anybody at a file was at a pipe or a
 * socket (`realpathSync` reads the buffer of that look), such as a lifeline, and a package that looks for its own files finds none then.
 */
// oxlint-disable-next-line typescript/no-explicit-any -- what a package is, its caller says
export function requireLinked(from: string, name: string): any {
  statSync("/");
  return createRequire(from)(name);
}

function requireKoffi(): LoadedKoffi {
  if (!isMainThread) return { kind: "absent", reason: "a worker thread does not load koffi", passing: false };
  try {
    const koffi: Koffi = requireLinked(import.meta.url, "koffi");
    return { kind: "loaded", koffi };
  } catch (error) {
    // Not installed, for another system, or forbidden by Node's permission model.
    const [firstLine] = reasonOf(error).split("\n");
    return { kind: "absent", reason: `koffi cannot be loaded: ${firstLine ?? ""}`, passing: isExhausted(error) };
  }
}
