import { expect, it } from "vitest";
import { Home } from "../support/home.ts";
import { Column } from "./column.ts";
import { openSessions } from "./sessions.ts";
import { readVerbs } from "./table.ts";

it("every verb in ready", async () => {
  await using home = await Home.open();
  const { still, ended, hidden, idle } = await openSessions(home, ["still", "ended", "hidden", "idle"]);
  const column = new Column(home, "ready");
  await column.run(still, "cancel", "resume", "retry", "delete", "unarchive", "rename", "set");
  // One after the other: a steer that finds a turn running is injected.
  await column.run(still, "steer");
  await column.run(still, "prompt", "follow-up", ...readVerbs);
  await column.run(idle, "passivate");
  const begun = [column.begin(ended, "stop"), column.begin(hidden, "archive")];
  for (const { done } of begun) await done();
  expect(await column.finish()).toEqual([]);
});
