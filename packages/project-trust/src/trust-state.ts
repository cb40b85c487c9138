import { type BindingRecord, Bindings, notABinding, type RevocationListener, tellOne } from "./bindings.ts";
import type { DirectoryCalls } from "./calls.ts";
import { canonicalPath } from "./canonical.ts";
import { Entry } from "./entry.ts";
import { identityToJson } from "./identity.ts";
import type { Pin } from "./pin.ts";
import { platformProblem } from "./platform.ts";
import { readPolicy, type ReadPolicy } from "./policy.ts";
import { type Denied, denied, type DeniedReason, isPassing, pathDetail } from "./reasons.ts";
import { judgeReissue } from "./reissue.ts";
import type { EntryState, Grant, Identified, PolicyState, Token } from "./types.ts";

interface Parts {
  readonly calls: DirectoryCalls;
  readonly platform: string;
  readonly newToken: () => string;
  readonly newRevision: () => string;
}

/** A binding that was validated just now, and the directory that it stands for. */
export type Opened = { readonly kind: "opened"; readonly record: BindingRecord; readonly pin: Pin } | Denied;

/** Entries, bindings, and whether anything is granted at all: what an authority decides by. */
export class TrustState {
  readonly calls: DirectoryCalls;
  readonly bindings: Bindings;
  readonly #newRevision: () => string;
  readonly #platform: Denied | null;
  #entries: ReadonlyMap<string, Entry> = new Map();
  #policy: PolicyState = { kind: "in_force", entries: 0 };
  #isDisposed = false;

  constructor({ calls, platform, newToken, newRevision }: Parts) {
    this.calls = calls;
    this.bindings = new Bindings(newToken);
    this.#newRevision = newRevision;
    this.#platform = platformProblem(platform, calls);
  }

  get policy(): PolicyState {
    return this.#policy;
  }

  authorize(directory: unknown): Grant {
    const nothing = this.#refusal();
    if (nothing !== null) return nothing;
    const path = canonicalPath(directory);
    if (path.kind === "refused") return denied(path.reason, pathDetail(path.reason));
    const entry = this.#entries.get(path.path);
    return entry === undefined ? denied("not_listed", `${path.path} is not a trusted directory`) : this.#grant(entry);
  }

  validate(binding: unknown): Grant {
    const opened = this.open(binding);
    return opened.kind === "denied" ? opened : { kind: "granted", binding: opened.record.binding };
  }

  open(binding: unknown): Opened {
    const nothing = this.#refusal();
    if (nothing !== null) return nothing;
    const record = this.bindings.recordOf(binding);
    if (record === null) return notABinding();
    if (record.state.kind === "revoked") return record.state.by;
    const held = record.entry.hold();
    return held.kind === "denied" ? this.#foundChanged(record.entry, held) : { kind: "opened", record, pin: held.pin };
  }

  onRevoked(binding: unknown, listener: RevocationListener): Disposable {
    const record = this.bindings.recordOf(binding);
    if (record !== null) return this.bindings.listen(record, listener);
    tellOne(listener, notABinding());
    return { [Symbol.dispose]: () => {} };
  }

  revoke(binding: unknown): boolean {
    const record = this.bindings.recordOf(binding);
    if (record?.state.kind !== "live") return false;
    this.bindings.tell(this.bindings.revoke([record], denied("revoked", "the binding was revoked")));
    return true;
  }

  tokenOf(binding: unknown): Token | Denied {
    const opened = this.open(binding);
    return opened.kind === "denied" ? opened : { kind: "token", token: this.bindings.tokenOf(opened.record) };
  }

  bindingOf(token: unknown): Grant {
    const nothing = this.#refusal();
    if (nothing !== null) return nothing;
    const record = this.bindings.byToken(token);
    if (record === null) return denied("unknown_token", "no binding of this authority has this token");
    return this.validate(record.binding);
  }

  identityOf(binding: unknown): Identified | Denied {
    const opened = this.open(binding);
    if (opened.kind === "denied") return opened;
    const { revision } = opened.record.entry;
    return { kind: "identity", identity: Object.freeze({ ...identityToJson(opened.pin.identity), revision }) };
  }

  reissue(identity: unknown): Grant {
    const nothing = this.#refusal();
    if (nothing !== null) return nothing;
    const judged = judgeReissue(identity, this.#entries);
    return judged.kind === "denied" ? judged : this.#grant(judged.entry);
  }

  update(policy: unknown): PolicyState {
    if (this.#isDisposed) return this.#policy;
    const read = readPolicy(policy);
    const next = this.#entriesOf(read);
    const dropped = [...this.#entries.values()].filter((entry) => next.get(entry.directory) !== entry);
    this.#policy = Object.freeze(
      read.kind === "policy"
        ? { kind: "in_force", entries: read.entries.length }
        : { kind: "malformed", fault: read.fault },
    );
    this.#entries = next;
    this.#end(dropped, read.kind === "policy" ? UNLISTED : malformedPolicy(this.#policy));
    return this.#policy;
  }

  entries(): readonly EntryState[] {
    return [...this.#entries.values()].map((entry) => {
      const { directory, revision } = entry;
      const found = entry.look();
      const state =
        found === null ? { state: "trusted" as const } : { state: stateOf(found.reason), reason: found.reason };
      return Object.freeze({ directory, revision, ...state });
    });
  }

  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    const entries = [...this.#entries.values()];
    this.#entries = new Map();
    this.#policy = Object.freeze({ kind: "in_force", entries: 0 });
    this.#end(entries, DISPOSED);
  }

  /** What denies everything. */
  #refusal(): Denied | null {
    if (this.#isDisposed) return DISPOSED;
    return this.#platform ?? (this.#policy.kind === "malformed" ? malformedPolicy(this.#policy) : null);
  }

  #grant(entry: Entry): Grant {
    if (this.bindings.isFull) return denied("too_many_bindings", "as many bindings live as there may: revoke some");
    const held = entry.hold();
    if (held.kind === "denied") return this.#foundChanged(entry, held);
    entry.granted = true;
    return { kind: "granted", binding: this.bindings.issue(entry) };
  }

  /** What was seen once ends what was bound before, whatever is put back: nobody knows what was there meanwhile. */
  #foundChanged(entry: Entry, found: Denied): Denied {
    if (isPassing(found.reason)) return found;
    this.bindings.tell(this.bindings.revoke(this.bindings.liveOf(entry), found));
    return found;
  }

  #entriesOf(read: ReadPolicy): ReadonlyMap<string, Entry> {
    const entries = read.kind === "policy" ? read.entries : [];
    return new Map(
      entries.map((said) => {
        const kept = this.#entries.get(said.directory);
        if (kept?.isAsRead(said) === true) return [said.directory, kept];
        const revision = said.revision ?? this.#newRevision();
        return [said.directory, new Entry({ calls: this.calls, said, revision, problem: this.#platform })];
      }),
    );
  }

  #end(entries: readonly Entry[], by: Denied): void {
    const ended = this.bindings.revoke(
      entries.flatMap((entry) => this.bindings.liveOf(entry)),
      by,
    );
    for (const entry of entries) entry.close();
    this.bindings.tell(ended);
  }
}

const DISPOSED = denied("disposed", "the authority was disposed of");
const UNLISTED = denied("revoked", "the policy lists the directory no more, or under another revision");

function malformedPolicy(policy: PolicyState): Denied {
  if (policy.kind === "in_force") return denied("malformed_policy", "the policy was refused");
  const { index, value, why } = policy.fault;
  return denied(
    "malformed_policy",
    index === null ? `the policy: ${why}` : `entry ${index} of the policy, ${value}: ${why}`,
  );
}

function stateOf(reason: DeniedReason): EntryState["state"] {
  if (reason === "missing") return "missing";
  return isPassing(reason) ? "unreadable" : "replaced";
}
