import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { Home } from "../support/home.ts";
import type { SessionRow } from "../support/rows.ts";
import { Column } from "./column.ts";
import { hasWorkers, openSessions } from "./sessions.ts";
import { type Verb, readVerbs } from "./table.ts";

/** Leaves `still` archived. */
async function stopped(home: Home, { still, gone }: Record<"still" | "gone", SessionRow>): Promise<Verb[]> {
  for (const { sessionId } of [still, gone]) await home.ok(["stop", sessionId]);
  const column = new Column(home, "stopped");
  await column.run(still, "prompt", "follow-up", "steer", "cancel", "stop", "retry");
  await column.run(still, "passivate", "unarchive", "rename", "set", ...readVerbs);
  expect(hasWorkers(home)).toBe(false);
  await column.run(still, "resume");
  await home.ok(["stop", still.sessionId]);
  await column.run(still, "archive");
  await column.run(gone, "delete");
  return await column.finish();
}

async function archived(home: Home, still: SessionRow): Promise<Verb[]> {
  const column = new Column(home, "archived");
  await column.run(still, "prompt", "follow-up", "steer", "cancel", "stop", "retry");
  await column.run(still, "archive", "passivate", "rename", "set", ...readVerbs);
  expect(hasWorkers(home)).toBe(false);
  await column.run(still, "unarchive");
  await home.ok(["session", "archive", still.sessionId]);
  await column.run(still, "resume");
  await home.ok(["session", "archive", still.sessionId]);
  await column.run(still, "delete");
  return await column.finish();
}

async function passivate(home: Home, session: SessionRow): Promise<void> {
  await home.ok(["session", "wait", session.sessionId, "--timeout", "20s"]);
  await home.ok(["session", "passivate", session.sessionId]);
}

/** Leaves `still` passivated, and no daemon. */
async function passivated(
  home: Home,
  { still, ended, hidden }: Record<"still" | "ended" | "hidden", SessionRow>,
): Promise<Verb[]> {
  for (const session of [still, ended, hidden]) await passivate(home, session);
  const column = new Column(home, "passivated");
  await column.run(still, "cancel", "retry", "passivate", "delete", "unarchive", "rename", "set", ...readVerbs);
  expect(hasWorkers(home)).toBe(false);
  const first = [column.begin(still, "prompt"), column.begin(ended, "follow-up"), column.begin(hidden, "steer")];
  for (const { done } of first) await done();
  for (const session of [still, ended, hidden]) await passivate(home, session);
  const second = [column.begin(still, "resume"), column.begin(ended, "stop"), column.begin(hidden, "archive")];
  for (const { done } of second) await done();
  await passivate(home, still);
  const untried = await column.finish();
  await home.ok(["daemon", "stop"]);
  await column.run(still, ...readVerbs);
  expect(home.processes()).toEqual([]);
  return untried;
}

/** Begins without a daemon. */
async function quarantined(home: Home, session: SessionRow): Promise<Verb[]> {
  const path = home.descriptorPath(session.sessionId);
  writeFileSync(path, "\u0001garbage{{{");
  await home.ok(["daemon", "start"]);
  const column = new Column(home, "quarantined");
  await column.run(session, "prompt", "follow-up", "steer", "cancel", "stop", "resume", "retry", "archive");
  await column.run(session, "passivate", "delete", "unarchive", "rename", "set", ...readVerbs);
  expect(hasWorkers(home)).toBe(false);
  expect(readFileSync(path, "utf8")).toBe("\u0001garbage{{{");
  return await column.finish();
}

it("every verb in stopped and archived: only what brings a session back starts a worker", async () => {
  await using home = await Home.open();
  const sessions = await openSessions(home, ["still", "gone"]);
  expect(await stopped(home, sessions)).toEqual([]);
  expect(await archived(home, sessions.still)).toEqual([]);
}, 90_000);

it("I142 every verb in passivated and quarantined: reads start nothing, also without a daemon", async () => {
  await using home = await Home.open();
  const sessions = await openSessions(home, ["still", "ended", "hidden"]);
  expect(await passivated(home, sessions)).toEqual([]);
  expect(await quarantined(home, sessions.still)).toEqual([]);
}, 90_000);
