import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { Home } from "../support/home.ts";
import { Column } from "./column.ts";
import { hasWorkers, openSessions } from "./sessions.ts";
import { readVerbs } from "./table.ts";

it("I142 every verb in quarantined: nothing acts on it, and all that looks at it works", async () => {
  await using home = await Home.open();
  const { damaged } = await openSessions(home, ["damaged"]);
  await home.kill(home.daemon());
  await home.kill(home.worker(damaged));
  const path = home.descriptorPath(damaged.sessionId);
  writeFileSync(path, "\u0001garbage{{{");
  await home.ok(["daemon", "start"]);
  const column = new Column(home, "quarantined");
  await column.run(damaged, "prompt", "follow-up", "steer", "cancel", "stop", "resume", "retry");
  await column.run(damaged, "archive", "passivate", "delete", "unarchive", "rename", "set");
  await column.run(damaged, ...readVerbs);
  expect(hasWorkers(home)).toBe(false);
  expect(readFileSync(path, "utf8")).toBe("\u0001garbage{{{");
  expect(await column.finish()).toEqual([]);
});
