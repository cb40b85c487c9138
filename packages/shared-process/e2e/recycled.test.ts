import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Verdict } from "../src/index.ts";
import { baseEnv, fixture, temporaryDirectory } from "./harness.ts";
import { type Answers, CURRENT, gone, no } from "./states.ts";

const REPLACED: Verdict = { kind: "replaced", by: "process" };
const GONE = { kind: "not-sent", verdict: gone("no-such-pid") };
const HELD = { held: gone("no-such-pid"), heldSignal: { kind: "not-sent", verdict: gone("no-such-pid") } } as const;

/** What has the number now is another process, which can be identified. */
const REPLACED_ANSWERS: Answers = { ...no(REPLACED), ...HELD, identify: "identified" };

/** Where only start times tell, one within the same tick is taken for the recorded one; a handle is never mistaken. */
const MISTAKEN: Answers = { ...CURRENT.narrow, ...HELD };

const MISSING: Verdict = { kind: "unknown", why: "marker-missing" };

/**
 * sh is process 1 there, because node as process 1 would not reap what others leave. A tick has 10 ms, which on a busy machine are too
 * short for a program that waits for its turn.
 */
const AT_ONCE = 'if chrt -f 10 true 2>/dev/null; then set -- chrt -f 10 "$@"; fi; "$@"; exit $?';

const cases: readonly (readonly [string, string, string, Answers, Verdict, string])[] = [
  ["pidfd", "later", "at-first-use", REPLACED_ANSWERS, REPLACED, "ready\nCONT\n"],
  ["pidfd", "same", "at-first-use", REPLACED_ANSWERS, REPLACED, "ready\nCONT\n"],
  ["narrow", "later", "never", REPLACED_ANSWERS, REPLACED, "ready\nCONT\n"],
  ["narrow", "same", "never", MISTAKEN, MISSING, "ready\nTERM\nCONT\n"],
];

describe("a canary that got the number of an ended process", () => {
  it.each(cases)("I9 I131 by %s, in the %s tick", (_backend, tick, library, answers, marked, log) => {
    const spec = JSON.stringify({ log: join(temporaryDirectory(), "signals"), tick, library });
    const program = [process.execPath, fixture("recycle.mjs"), spec];
    const args = ["--pid", "--fork", "--mount-proc", "sh", "-c", AT_ONCE, "sh", ...program];
    const run = spawnSync("unshare", args, { env: baseEnv, encoding: "utf8", timeout: 40_000 });
    expect(run.stderr).toBe("");
    expect(JSON.parse(run.stdout)).toEqual({
      answers,
      marked: { kind: "not-sent", verdict: marked },
      markedGroup: { kind: "not-sent", verdict: marked },
      heldGroup: GONE,
      ownChild: tick === "later" ? GONE : null,
      ownGroup: tick === "later" ? GONE : null,
      tree: { ended: 0, kept: [], remaining: [], scan: "complete" },
      log,
    });
  });
});
