import { CodedError } from "@holdfast/shared-process";
import { segmentName, segmentNumber } from "../format.ts";
import type { FileSystem } from "../file-system.ts";
import { PassThrough } from "./pass-through.ts";
import type { WorkloadOptions } from "./workload.ts";

/**
 * The same code with one thing broken, as seen by its disk or by its caller: an enumeration that finds nothing wrong with it proves nothing of the real
 * code either. `caughtBy` says which one must. Not among them, as no crash shows it: a claim that is not cut to its new size has fill
 * behind its capacity, which says nothing.
 */
export interface Mutant {
  readonly caughtBy: "crash" | "fault" | "replacement" | "interleaving";
  readonly wrap?: (inner: FileSystem) => FileSystem;
  readonly breakCalls?: WorkloadOptions["breakCalls"];
}

class BatchNotFlushed extends PassThrough {
  override fdatasync(): void {
    // Acknowledged from memory.
  }
}

class NewSegmentNotFlushed extends PassThrough {
  override fsync(fd: number): void {
    if (this.opened.get(fd)?.kind !== "temporary") this.inner.fsync(fd);
  }
}

class NamesNotFlushed extends PassThrough {
  override fsync(fd: number): void {
    if (this.opened.get(fd)?.kind !== "directory") this.inner.fsync(fd);
  }
}

/** A claim is written under its last name; a file that is published is flushed before it has that. */
class ClaimNotFlushed extends PassThrough {
  readonly #linked = new Set<string>();
  override link(existing: string, path: string): void {
    this.inner.link(existing, path);
    this.#linked.add(path);
  }
  override fsync(fd: number): void {
    if (!this.#linked.has(this.opened.get(fd)?.path ?? "")) this.inner.fsync(fd);
  }
}

class FlushErrorIgnored extends PassThrough {
  override fdatasync(fd: number): void {
    try {
      this.inner.fdatasync(fd);
    } catch {
      // Taken for done.
    }
  }
}

class FlushTriedAgain extends PassThrough {
  override fdatasync(fd: number): void {
    try {
      this.inner.fdatasync(fd);
    } catch {
      this.inner.fdatasync(fd);
    }
  }
}

class ShortWriteTakenForWhole extends PassThrough {
  override write(fd: number, buffer: Uint8Array, offset: number, length: number, position: number | null): number {
    this.inner.write(fd, buffer, offset, Math.min(length, 600), position);
    return length;
  }
}

/** The flush waits for the mark, which says that it was done. */
class MarkBeforeFlush extends PassThrough {
  #due: number | null = null;
  override fdatasync(fd: number): void {
    this.#settle();
    this.#due = fd;
  }
  override write(fd: number, buffer: Uint8Array, offset: number, length: number, position: number | null): number {
    const count = this.inner.write(fd, buffer, offset, length, position);
    this.#settle();
    return count;
  }
  override close(fd: number): void {
    this.#settle();
    this.inner.close(fd);
  }
  #settle(): void {
    if (this.#due !== null) this.inner.fdatasync(this.#due);
    this.#due = null;
  }
}

type NameChange = "none" | "published" | "retired";

/**
 * Leaves out the flush of names that follows one kind of change; `none` is the one before anything of its own was changed, which
 * makes durable what a former writer made and may not have flushed. Without the one after `retired` nothing goes wrong in a crash:
 * the highest whole segment counts, and what it replaced says less. It stays for the case that the higher one is damaged as well.
 */
class FlushOfNamesLeftOut extends PassThrough {
  readonly #after: NameChange;
  #last: NameChange = "none";
  constructor(inner: FileSystem, after: NameChange) {
    super(inner);
    this.#after = after;
  }
  override link(existing: string, path: string): void {
    this.inner.link(existing, path);
    this.#last = "published";
  }
  override unlink(path: string): void {
    this.inner.unlink(path);
    if (!path.endsWith(".tmp")) this.#last = "retired";
  }
  override fsync(fd: number): void {
    const last = this.#last;
    if (this.opened.get(fd)?.kind === "directory") {
      this.#last = "none";
      if (last === this.#after) return;
    }
    this.inner.fsync(fd);
  }
}

/** A writer that never finds out that it has a successor. */
class FenceNotSeen extends PassThrough {
  readonly #mine = new Set<string>();
  override link(existing: string, path: string): void {
    this.inner.link(existing, path);
    this.#mine.add(path);
  }
  override exists(path: string): boolean {
    return this.#mine.has(path);
  }
  override hasName(_fd: number, path: string): boolean {
    return this.#mine.has(path);
  }
  override readdir(path: string): string[] {
    const mine = [...this.#mine].map((own) => segmentNumber(own.slice(path.length + 1)) ?? 0);
    const seen = mine.length === 0 ? Infinity : Math.max(...mine);
    return this.inner.readdir(path).filter((name) => (segmentNumber(name) ?? 0) <= seen);
  }
}

class LinkClobbers extends PassThrough {
  override link(existing: string, path: string): void {
    if (this.inner.exists(path)) this.inner.unlink(path);
    this.inner.link(existing, path);
  }
}

/** The old segment goes before the new one has its name. */
class RetiredBeforePublished extends PassThrough {
  override link(existing: string, path: string): void {
    const directory = path.slice(0, path.lastIndexOf("/"));
    const segment = segmentNumber(path.slice(directory.length + 1));
    const older = segment === null ? null : `${directory}/${segmentName(segment - 1)}`;
    if (older !== null && this.inner.exists(older)) this.inner.unlink(older);
    this.inner.link(existing, path);
  }
}

/** An opener that fails takes away the segment that it made. */
class ClaimTakenBack extends PassThrough {
  #claim: string | null = null;
  override link(existing: string, path: string): void {
    this.inner.link(existing, path);
    this.#claim = path;
  }
  override fsync(fd: number): void {
    try {
      this.inner.fsync(fd);
    } catch (error) {
      if (this.#claim !== null && this.inner.exists(this.#claim)) this.inner.unlink(this.#claim);
      throw error;
    }
  }
}

class ReplacedInPlace extends PassThrough {
  override rename(source: string, target: string): void {
    const fd = this.inner.open(source, 0);
    const bytes = new Uint8Array(Number(this.inner.fstat(fd).size));
    this.inner.read(fd, bytes, 0, bytes.length, 0);
    this.inner.close(fd);
    if (!this.inner.exists(target)) throw new CodedError("nothing_to_replace", target);
    const there = this.inner.open(target, 2);
    this.inner.write(there, bytes, 0, bytes.length, 0);
    this.inner.ftruncate(there, bytes.length);
    this.inner.fsync(there);
    this.inner.close(there);
    this.inner.unlink(source);
  }
}

export const mutants: Readonly<Record<string, Mutant>> = {
  "a batch is not flushed": { caughtBy: "crash", wrap: (inner) => new BatchNotFlushed(inner) },
  "a new segment is not flushed": { caughtBy: "crash", wrap: (inner) => new NewSegmentNotFlushed(inner) },
  "names are not flushed": { caughtBy: "crash", wrap: (inner) => new NamesNotFlushed(inner) },
  "a claim is not flushed": { caughtBy: "crash", wrap: (inner) => new ClaimNotFlushed(inner) },
  "a short write is taken for whole": { caughtBy: "crash", wrap: (inner) => new ShortWriteTakenForWhole(inner) },
  "the mark is written before the flush": { caughtBy: "crash", wrap: (inner) => new MarkBeforeFlush(inner) },
  "a list is begun one by one": {
    caughtBy: "crash",
    breakCalls: (journal) => ({ restore: (requests) => Promise.all(requests.map((one) => journal.begin(one))) }),
  },
  "a request is remembered in memory alone": {
    caughtBy: "crash",
    breakCalls: () => ({ remember: () => Promise.resolve() }),
  },
  "the old segment goes before the new one is named": {
    caughtBy: "crash",
    wrap: (inner) => new RetiredBeforePublished(inner),
  },
  "a new segment's name is not flushed": {
    caughtBy: "crash",
    wrap: (inner) => new FlushOfNamesLeftOut(inner, "published"),
  },
  "names that a former writer made are not flushed": {
    caughtBy: "interleaving",
    wrap: (inner) => new FlushOfNamesLeftOut(inner, "none"),
  },
  "an error of the flush is ignored": { caughtBy: "fault", wrap: (inner) => new FlushErrorIgnored(inner) },
  "a failed flush is tried again": { caughtBy: "fault", wrap: (inner) => new FlushTriedAgain(inner) },
  "a failed opener takes its claim back": { caughtBy: "fault", wrap: (inner) => new ClaimTakenBack(inner) },
  "the fence is not seen": { caughtBy: "interleaving", wrap: (inner) => new FenceNotSeen(inner) },
  "link clobbers": { caughtBy: "interleaving", wrap: (inner) => new LinkClobbers(inner) },
  "a replacement is not flushed": { caughtBy: "replacement", wrap: (inner) => new NewSegmentNotFlushed(inner) },
  "a replacement's name is not flushed": { caughtBy: "replacement", wrap: (inner) => new NamesNotFlushed(inner) },
  "a file is replaced in place": { caughtBy: "replacement", wrap: (inner) => new ReplacedInPlace(inner) },
};
