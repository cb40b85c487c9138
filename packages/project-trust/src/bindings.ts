import { CodedError, invariant, rethrowLater } from "@holdfast/shared-process";
import { createHash } from "node:crypto";
import type { Entry } from "./entry.ts";
import { type Denied, denied, type DeniedReason } from "./reasons.ts";

/** Says that a directory was granted. It is empty: what it stands for, only the authority that issued it knows. */
export interface Binding {
  readonly [bindingBrand]: never;
}
declare const bindingBrand: unique symbol;

/** Why a binding is no longer valid. */
export interface Revocation {
  readonly reason: DeniedReason;
  readonly detail: string;
}

export type RevocationListener = (revocation: Revocation) => void;

/** A record for each binding that lives, and one token. A few hundred bytes each. */
export const MAX_BINDINGS = 10_000;
export const MAX_LISTENERS = 1000;

export interface BindingRecord {
  readonly binding: Binding;
  readonly entry: Entry;
  state: { readonly kind: "live" } | { readonly kind: "revoked"; readonly by: Denied };
  readonly listeners: Set<RevocationListener>;
  token: { readonly token: string; readonly digest: string } | null;
}

/** The bindings of one authority. Nothing of a binding leads here: it is looked up by its own identity as an object. */
export class Bindings {
  readonly #records = new WeakMap<object, BindingRecord>();
  readonly #live = new Map<Entry, Set<BindingRecord>>();
  /** By the digest of the token, so that a comparison tells nobody who waits for it how much of a token was right. */
  readonly #tokens = new Map<string, BindingRecord>();
  readonly #newToken: () => string;
  #count = 0;

  constructor(newToken: () => string) {
    this.#newToken = newToken;
  }

  get isFull(): boolean {
    return this.#count >= MAX_BINDINGS;
  }

  issue(entry: Entry): Binding {
    const binding: Binding = Object.freeze(Object.create(null));
    const record: BindingRecord = { binding, entry, state: { kind: "live" }, listeners: new Set(), token: null };
    this.#records.set(binding, record);
    this.#count += 1;
    const ofEntry = this.#live.get(entry);
    if (ofEntry === undefined) this.#live.set(entry, new Set([record]));
    else ofEntry.add(record);
    return binding;
  }

  /** Only the very object that was issued has a record: no copy, no proxy and nothing that inherits from it. */
  recordOf(binding: unknown): BindingRecord | null {
    return typeof binding === "object" && binding !== null ? (this.#records.get(binding) ?? null) : null;
  }

  liveOf(entry: Entry): readonly BindingRecord[] {
    return [...(this.#live.get(entry) ?? [])];
  }

  tokenOf(record: BindingRecord): string {
    if (record.token === null) {
      const token = this.#newToken();
      const digest = digestOf(token);
      invariant(token.length >= MIN_TOKEN_LENGTH && !this.#tokens.has(digest), "a token is long, and no other's");
      record.token = { token, digest };
      this.#tokens.set(digest, record);
    }
    return record.token.token;
  }

  byToken(token: unknown): BindingRecord | null {
    if (typeof token !== "string" || token.length > MAX_TOKEN_LENGTH) return null;
    return this.#tokens.get(digestOf(token)) ?? null;
  }

  /**
   * Marks live bindings as revoked. Nobody is told yet: first all that belongs together is done, since a listener may
   * call the authority.
   */
  revoke(live: readonly BindingRecord[], by: Denied): readonly BindingRecord[] {
    for (const record of live) {
      invariant(record.state.kind === "live", "a binding is revoked once");
      record.state = { kind: "revoked", by };
      this.#count -= 1;
      const ofEntry = this.#live.get(record.entry);
      ofEntry?.delete(record);
      if (ofEntry?.size === 0) {
        this.#live.delete(record.entry);
        record.entry.rest();
      }
      if (record.token !== null) this.#tokens.delete(record.token.digest);
    }
    return live;
  }

  /** What was revoked just now; nothing is added meanwhile, and one that another listener disposes of is not told. */
  tell(revoked: readonly BindingRecord[]): void {
    for (const { state, listeners } of revoked) {
      invariant(state.kind === "revoked", "what is told has happened");
      for (const listener of listeners) tellOne(listener, state.by);
      listeners.clear();
    }
  }

  listen(record: BindingRecord, listener: RevocationListener): Disposable {
    if (record.state.kind === "revoked") {
      tellOne(listener, record.state.by);
      return { [Symbol.dispose]: () => {} };
    }
    const { listeners } = record;
    if (listeners.size >= MAX_LISTENERS) {
      throw new CodedError("too_many_listeners", `a binding has at most ${MAX_LISTENERS} listeners`);
    }
    // The same function may be added twice, and is then told twice.
    const own: RevocationListener = (revocation) => listener(revocation);
    listeners.add(own);
    return { [Symbol.dispose]: () => void listeners.delete(own) };
  }
}

/** 32 random bytes have 43 characters. */
const MIN_TOKEN_LENGTH = 43;
const MAX_TOKEN_LENGTH = 1024;

const digestOf = (token: string): string => createHash("sha256").update(token).digest("base64");

export function tellOne(listener: RevocationListener, { reason, detail }: Revocation): void {
  try {
    listener(Object.freeze({ reason, detail }));
  } catch (error) {
    // The others must hear of it, and so must whoever watches over this process.
    rethrowLater(error);
  }
}

export const notABinding = (): Denied => denied("not_a_binding", "it is no binding that this authority has issued");
