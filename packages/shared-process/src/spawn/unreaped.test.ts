import { describe, expect, it } from "vitest";
import { FakeProcessTable } from "../testing/index.ts";
import type { Signal } from "../types.ts";
import { signalUnreaped } from "./unreaped.ts";

describe("signalUnreaped", () => {
  it("signals a child that is not reaped when the check phase comes", async () => {
    const table = new FakeProcessTable();
    table.start({ pid: 42 });
    const child = { pid: 42, exitCode: null, signalCode: null };
    expect(await signalUnreaped(child, 42, "SIGTERM", table)).toEqual({ kind: "sent", via: "unreaped-child" });
    expect(table.delivered).toEqual([{ pid: 42, signal: "SIGTERM" }]);
  });

  it("I89 sends nothing when the exit is noticed between the call and the check phase", async () => {
    const table = new FakeProcessTable();
    table.start({ pid: 42, command: "newcomer" });
    const child: { pid: number; exitCode: number | null; signalCode: string | null } = {
      pid: 42,
      exitCode: null,
      signalCode: null,
    };
    const outcome = signalUnreaped(child, 42, "SIGKILL", table);
    child.signalCode = "SIGTERM";
    expect(await outcome).toMatchObject({ kind: "not-sent", verdict: { kind: "gone" } });
    expect(await signalUnreaped({ ...child, signalCode: null, exitCode: 0 }, 42, "SIGKILL", table)).toMatchObject({
      kind: "not-sent",
    });
    expect(table.delivered).toEqual([]);
  });

  it("I16 sends nothing in place of a name that is none", async () => {
    const table = new FakeProcessTable();
    table.start({ pid: 42 });
    const child = { pid: 42, exitCode: null, signalCode: null };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as from a program without types
    const outcome = await signalUnreaped(child, 42, "" as Signal, table);
    expect(outcome).toEqual({ kind: "denied", errno: "EINVAL" });
    expect(table.delivered).toEqual([]);
  });

  it("I119 tells apart an empty group and one that may not be signalled", async () => {
    const table = new FakeProcessTable();
    table.start({ pid: 42, foreign: true });
    const child = { pid: 42, exitCode: null, signalCode: null };
    expect(await signalUnreaped(child, 42, "SIGTERM", table)).toEqual({ kind: "denied", errno: "EPERM" });
    expect(await signalUnreaped(child, -43, "SIGTERM", table)).toMatchObject({ kind: "not-sent" });
  });
});
