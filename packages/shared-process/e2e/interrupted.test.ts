import { describe, expect, it } from "vitest";
import { backends, fixture, linesOf, start } from "./harness.ts";

/** Without the library it is Node that makes the calls, and three of them for one verdict. */
const rounds = { pidfd: 20_000, narrow: 2_000 };
/** Node keeps at most 4,096 unhandled signals; far more are sent. */
const MANY = 200;

describe.each(backends)("verdicts by $name", ({ name, library, basis }) => {
  it("are not disturbed by signals that arrive in the middle of system calls", async () => {
    const asking = await start(process.execPath, [fixture("interrupted.mjs"), library, String(rounds[name])]);
    const { value: text } = await linesOf(asking).next();
    const { counts, received } = JSON.parse(String(text));
    expect(received).toBeGreaterThan(MANY);
    expect(counts).toEqual({ [`current ${basis}`]: rounds[name], "current handle": rounds[name] });
  });
});
