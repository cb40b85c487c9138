import { invariant, reasonOf } from "@holdfast/shared-process";
import { constants } from "node:fs";
import type { DirectoryCalls, Seen } from "./calls.ts";
import { closeDescriptor, pathOf } from "./descriptors.ts";
import { type DirectoryIdentity, identityOf } from "./identity.ts";
import { type Denied, denied } from "./reasons.ts";
import { walkTo } from "./walk.ts";

/**
 * A directory held open. While it is, its inode number is given to nobody else, so that what has the same device and
 * inode is this directory. It keeps its file system from being unmounted.
 */
export class Pin {
  readonly identity: DirectoryIdentity;
  readonly descriptor: number;
  /** The mount that it is on. */
  readonly mount: string;
  readonly #calls: DirectoryCalls;
  #users = 0;
  #state: "open" | "ending" | "closed" = "open";

  constructor(
    calls: DirectoryCalls,
    held: { readonly identity: DirectoryIdentity; readonly descriptor: number; readonly mount: string },
  ) {
    this.#calls = calls;
    this.identity = held.identity;
    this.descriptor = held.descriptor;
    this.mount = held.mount;
  }

  /**
   * Keeps the descriptor open until `release`, also past `close`: its number stands in paths that the user was given,
   * and must not become another file's under its hands.
   */
  use(): { readonly release: () => void } {
    invariant(this.#state === "open", "a pin that is closed is not used");
    this.#users += 1;
    let released = false;
    return {
      release: () => {
        if (released) return;
        released = true;
        this.#users -= 1;
        if (this.#users === 0 && this.#state === "ending") this.#end();
      },
    };
  }

  /** Closes now, or with the last user. */
  close(): void {
    if (this.#state !== "open") return;
    this.#state = "ending";
    if (this.#users === 0) this.#end();
  }

  #end(): void {
    this.#state = "closed";
    closeDescriptor(this.#calls, this.descriptor);
  }
}

export type Pinned = { readonly kind: "pinned"; readonly pin: Pin } | Denied;

/** Reaches a directory by its exact path and holds it. */
export function pinDirectory(calls: DirectoryCalls, directory: string): Pinned {
  const reached = walkTo(calls, directory);
  if (reached.kind === "denied") return reached;
  try {
    return { kind: "pinned", pin: reopened(calls, directory, reached) };
  } catch (error) {
    return denied("unreadable", `${directory}: ${reasonOf(error)}`);
  } finally {
    closeDescriptor(calls, reached.descriptor);
  }
}

/** From a place to the directory itself, which can be listed. Throws the system's errors. */
function reopened(
  calls: DirectoryCalls,
  directory: string,
  place: { readonly descriptor: number; readonly seen: Seen },
): Pin {
  const descriptor = calls.open(pathOf(place.descriptor), constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    const seen = calls.fstat(descriptor);
    invariant(seen.device === place.seen.device && seen.inode === place.seen.inode, "a place opens as itself");
    return new Pin(calls, { identity: identityOf(directory, seen), descriptor, mount: calls.mountOf(descriptor) });
  } catch (error) {
    closeDescriptor(calls, descriptor);
    throw error;
  }
}

export type Looked = { readonly kind: "found"; readonly identity: DirectoryIdentity } | Denied;

/** What is at a directory's exact path now. Holds nothing. */
export function lookAt(calls: DirectoryCalls, directory: string): Looked {
  const reached = walkTo(calls, directory);
  if (reached.kind === "denied") return reached;
  closeDescriptor(calls, reached.descriptor);
  return { kind: "found", identity: identityOf(directory, reached.seen) };
}
