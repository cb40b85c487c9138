import type { DirectoryCalls, Seen } from "./calls.ts";
import { nodeCalls } from "./node-calls.ts";

export type CallName = keyof DirectoryCalls;

/** What Node throws. */
export const systemError = (code: string): Error => Object.assign(new Error(code), { code });

/**
 * The real file system, with a hook before each call that may throw, or swap what the call reaches, and with other
 * answers where a test needs what this disk does not do. Knows which descriptors are open.
 */
export class WatchedCalls implements DirectoryCalls {
  /** `about` is the path, or the descriptor's number. */
  before: (call: CallName, about: string) => void = () => {};
  /** What is seen of every file. */
  sees: (seen: Seen) => Seen = (seen) => seen;
  /** The name under which the disk keeps what is asked by this one. */
  finds: (path: string) => string = (path) => path;
  mount: (mount: string) => string = (mount) => mount;
  lists: ((path: string) => Iterable<string>) | null = null;
  realpathOf = (path: string): string => nodeCalls.realpath(path);
  proc = true;
  count = 0;
  readonly descriptors = new Set<number>();

  open(path: string, flags: number): number {
    this.#call("open", path);
    const descriptor = nodeCalls.open(this.finds(path), flags);
    this.descriptors.add(descriptor);
    return descriptor;
  }

  close(descriptor: number): void {
    this.descriptors.delete(descriptor);
    nodeCalls.close(descriptor);
    // As on Linux: it is closed, whatever is said.
    this.#call("close", String(descriptor));
  }

  fstat(descriptor: number): Seen {
    this.#call("fstat", String(descriptor));
    return this.sees(nodeCalls.fstat(descriptor));
  }

  lstat(path: string): Seen | null {
    this.#call("lstat", path);
    const seen = nodeCalls.lstat(this.finds(path));
    return seen === null ? null : this.sees(seen);
  }

  read(descriptor: number, buffer: Uint8Array, position: number): number {
    this.#call("read", String(descriptor));
    return nodeCalls.read(descriptor, buffer, position);
  }

  names(path: string): Iterable<string> {
    this.#call("names", path);
    return this.lists?.(path) ?? nodeCalls.names(path);
  }

  mountOf(descriptor: number): string {
    this.#call("mountOf", String(descriptor));
    return this.mount(nodeCalls.mountOf(descriptor));
  }

  hasProc(): boolean {
    return this.proc && nodeCalls.hasProc();
  }

  realpath(path: string): string {
    this.#call("realpath", path);
    return this.realpathOf(path);
  }

  #call(call: CallName, about: string): void {
    this.count += 1;
    this.before(call, about);
  }
}

/** The disk keeps one name for all cases of it, as one that folds case does; only the last component is folded. */
export const folding =
  (kept: string) =>
  (path: string): string => {
    const name = path.slice(path.lastIndexOf("/") + 1);
    return name.toLowerCase() === kept.toLowerCase() ? path.slice(0, -name.length) + kept : path;
  };
