import type { DirectoryCalls } from "./calls.ts";
import { compareDirectories, type DirectoryIdentity } from "./identity.ts";
import { lookAt, type Pin, type Pinned, pinDirectory } from "./pin.ts";
import type { ReadEntry } from "./policy.ts";
import { type Denied, denied } from "./reasons.ts";

/** What the entry's directory was when it was trusted, or why that is not known. */
type Trusted = { readonly kind: "identity"; readonly identity: DirectoryIdentity } | Denied;

interface NewEntry {
  readonly calls: DirectoryCalls;
  readonly said: ReadEntry;
  readonly revision: string;
  readonly problem: Denied | null;
}

/**
 * One listed directory. It is held (`pin`) while a binding to it lives; for as long as the entry stands where its file
 * system records no birth times, since nothing else could prove then that it is the same one.
 */
export class Entry {
  readonly directory: string;
  readonly revision: string;
  /** Whether the list gave a path alone: its revision is then this entry's own. */
  readonly form: "path" | "entry";
  readonly trusted: Trusted;
  /**
   * Whether this authority has granted it: what other processes say of a directory without a birth time proves nothing.
   */
  granted = false;
  readonly #calls: DirectoryCalls;
  #pin: Pin | null = null;

  /** `problem`: why nothing can be known of any directory. */
  constructor({ calls, said, revision, problem }: NewEntry) {
    this.#calls = calls;
    this.directory = said.directory;
    this.revision = revision;
    this.form = said.revision === null ? "path" : "entry";
    const given = said.identity === null ? null : ({ kind: "identity", identity: said.identity } as const);
    this.trusted = problem ?? given ?? this.#takeIdentity();
  }

  get pin(): Pin | null {
    return this.#pin;
  }

  /** Whether a new list says the same of this directory, so that what is bound to it stays. */
  isAsRead({ directory, revision, identity }: ReadEntry): boolean {
    if (directory !== this.directory || this.trusted.kind === "denied") return false;
    if (revision === null || this.form === "path") return revision === null && this.form === "path";
    return revision === this.revision && (identity === null || isEqual(identity, this.trusted.identity));
  }

  /** Whether the directory is there, as it was trusted. `null` when it is. */
  look(): Denied | null {
    const { trusted } = this;
    if (trusted.kind === "denied") return trusted;
    const found = lookAt(this.#calls, this.directory);
    return found.kind === "denied" ? found : this.#judge(trusted.identity, found.identity);
  }

  /** The same, and holds it from then on. */
  hold(): Denied | { readonly kind: "held"; readonly pin: Pin } {
    const { trusted } = this;
    if (trusted.kind === "denied") return trusted;
    if (this.#pin !== null) return this.look() ?? { kind: "held", pin: this.#pin };
    const pinned = pinDirectory(this.#calls, this.directory);
    if (pinned.kind === "denied") return pinned;
    const verdict = this.#judge(trusted.identity, pinned.pin.identity);
    if (verdict === null) this.#pin = pinned.pin;
    else pinned.pin.close();
    return verdict ?? { kind: "held", pin: pinned.pin };
  }

  /** No binding is left: the birth time proves the next time what the descriptor proved until now. */
  rest(): void {
    if (this.trusted.kind === "identity" && this.trusted.identity.birthTimeNs !== 0n) this.close();
  }

  close(): void {
    this.#pin?.close();
    this.#pin = null;
  }

  #judge(recorded: DirectoryIdentity, found: DirectoryIdentity): Denied | null {
    const verdict = compareDirectories(recorded, found, this.#pin === null ? "not held" : "held");
    if (verdict === "same") return null;
    return verdict === "replaced"
      ? denied("replaced", `${this.directory} is another directory than the one that was trusted`)
      : denied("unproven", `${this.directory}: its file system records no birth times; trust it again`);
  }

  #takeIdentity(): Trusted {
    const pinned: Pinned = pinDirectory(this.#calls, this.directory);
    if (pinned.kind === "denied") return pinned;
    const { identity } = pinned.pin;
    if (identity.birthTimeNs === 0n) this.#pin = pinned.pin;
    else pinned.pin.close();
    return { kind: "identity", identity };
  }
}

const isEqual = (one: DirectoryIdentity, other: DirectoryIdentity): boolean =>
  one.directory === other.directory &&
  one.device === other.device &&
  one.inode === other.inode &&
  one.birthTimeNs === other.birthTimeNs;
