import { expect, it } from "vitest";
import { Home } from "../support/home.ts";
import { Column } from "./column.ts";
import { hasWorkers, openSessions } from "./sessions.ts";
import { type Verb, readVerbs } from "./table.ts";

async function stopped(home: Home): Promise<Verb[]> {
  const sessions = await openSessions(home, ["s-still", "s-back", "s-hidden", "s-gone"]);
  await Promise.all(Object.values(sessions).map(({ sessionId }) => home.ok(["stop", sessionId])));
  const column = new Column(home, "stopped");
  await column.run(sessions["s-still"], "prompt", "follow-up", "steer", "cancel", "stop", "retry");
  await column.run(sessions["s-still"], "passivate", "unarchive", "rename", "set", ...readVerbs);
  expect(hasWorkers(home)).toBe(false);
  const begun = [
    column.begin(sessions["s-back"], "resume"),
    column.begin(sessions["s-hidden"], "archive"),
    column.begin(sessions["s-gone"], "delete"),
  ];
  for (const { done } of begun) await done();
  const untried = await column.finish();
  await home.ok(["stop", sessions["s-back"].sessionId]);
  return untried;
}

async function archived(home: Home): Promise<Verb[]> {
  const sessions = await openSessions(home, ["a-still", "a-back", "a-listed", "a-gone"]);
  await Promise.all(Object.values(sessions).map(({ sessionId }) => home.ok(["stop", sessionId, "--archive"])));
  const column = new Column(home, "archived");
  await column.run(sessions["a-still"], "prompt", "follow-up", "steer", "cancel", "stop", "retry");
  await column.run(sessions["a-still"], "archive", "passivate", "rename", "set", ...readVerbs);
  expect(hasWorkers(home)).toBe(false);
  const begun = [
    column.begin(sessions["a-back"], "resume"),
    column.begin(sessions["a-listed"], "unarchive"),
    column.begin(sessions["a-gone"], "delete"),
  ];
  for (const { done } of begun) await done();
  const untried = await column.finish();
  await home.ok(["stop", sessions["a-back"].sessionId]);
  return untried;
}

async function passivated(home: Home): Promise<Verb[]> {
  const sessions = await openSessions(home, ["still", "prompted", "followed", "steered", "back", "ended", "hidden"]);
  // One after the other: a worker that does not answer within a second keeps its process.
  for (const { sessionId } of Object.values(sessions)) await home.ok(["session", "passivate", sessionId]);
  const column = new Column(home, "passivated");
  await column.run(sessions.still, "cancel", "retry", "passivate", "delete", "unarchive", "rename", "set");
  await column.run(sessions.still, ...readVerbs);
  expect(hasWorkers(home)).toBe(false);
  const begun = [
    column.begin(sessions.prompted, "prompt"),
    column.begin(sessions.followed, "follow-up"),
    column.begin(sessions.steered, "steer"),
    column.begin(sessions.back, "resume"),
    column.begin(sessions.ended, "stop"),
    column.begin(sessions.hidden, "archive"),
  ];
  for (const { done } of begun) await done();
  const untried = await column.finish();
  await home.ok(["daemon", "stop"]);
  await column.run(sessions.still, ...readVerbs);
  expect(home.processes()).toEqual([]);
  return untried;
}

it("every verb in stopped, archived and passivated: only what brings a session back starts anything", async () => {
  await using home = await Home.open();
  expect(await stopped(home)).toEqual([]);
  expect(await archived(home)).toEqual([]);
  expect(await passivated(home)).toEqual([]);
}, 120_000);
