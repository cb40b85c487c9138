import type { SignalOutcome, SignalWay, UnknownWhy, Verdict } from "../src/index.ts";

/** What `fixtures/answers.mjs` gives. */
export interface Answers {
  readonly verdict: Verdict;
  /** Of a handle that was opened before, and the outcome of a signal through it; `null` where none could be opened. */
  readonly held: Verdict | null;
  readonly heldSignal: SignalOutcome | null;
  readonly identify: "identified" | Verdict;
  readonly open: "opened" | Verdict;
  readonly signal: SignalOutcome;
}

export interface Expected {
  readonly pidfd: Answers;
  readonly narrow: Answers;
}

const sent = (via: SignalWay): SignalOutcome => ({ kind: "sent", via });
const unsent = (verdict: Verdict): SignalOutcome => ({ kind: "not-sent", verdict });
export const DENIED: SignalOutcome = { kind: "denied", errno: "EPERM" };
export const unknown = (why: UnknownWhy): Verdict => ({ kind: "unknown", why });
export const gone = (why: "no-such-pid" | "defunct" | "previous-boot"): Verdict => ({ kind: "gone", why });

const alive = (basis: "kernel-id" | "start-time", via: SignalWay): Answers => ({
  verdict: { kind: "current", basis },
  held: { kind: "current", basis: "handle" },
  heldSignal: sent(via),
  identify: "identified",
  open: "opened",
  signal: sent(via),
});

/** It runs, and each back-end says so in its own way. */
export const CURRENT: Expected = { pidfd: alive("kernel-id", "pidfd"), narrow: alive("start-time", "narrow-window") };

/** The same verdict of the record, the handle and the number; nothing is sent. */
export const no = (verdict: Verdict): Answers => ({
  verdict,
  held: verdict,
  heldSignal: unsent(verdict),
  identify: verdict,
  open: verdict,
  signal: unsent(verdict),
});

/** As `no`, and there is no handle since none could be opened. */
export const never = (verdict: Verdict): Answers => ({ ...no(verdict), held: null, heldSignal: null });

/** As `no`, but a handle that was opened before still sees and reaches its process. */
export const unseen = (why: UnknownWhy, via: SignalWay): Answers => ({
  ...no(unknown(why)),
  held: { kind: "current", basis: "handle" },
  heldSignal: sent(via),
});

export const both = (answers: Answers): Expected => ({ pidfd: answers, narrow: answers });
