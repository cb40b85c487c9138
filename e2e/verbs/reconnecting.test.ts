import { expect, it } from "vitest";
import { Home } from "../support/home.ts";
import { isRunning, signal } from "../support/processes.ts";
import { Column } from "./column.ts";
import { openSessions } from "./sessions.ts";
import { readVerbs } from "./table.ts";

it("I136 every verb while the worker of a session does not answer: slow is not dead", async () => {
  await using home = await Home.open();
  const { still, steered, ended, hidden } = await openSessions(home, ["still", "steered", "ended", "hidden"]);
  const sessions = [still, steered, ended, hidden];
  const workers = sessions.map((session) => home.worker(session));
  for (const worker of workers) home.freeze(worker);
  await home.kill(home.daemon());
  await home.ok(["daemon", "start"]);

  const column = new Column(home, "reconnecting", { shown: "recovering" });
  const endings = [column.begin(ended, "stop"), column.begin(hidden, "archive")];
  await column.run(still, "cancel", "passivate", "delete", "unarchive", "rename", "set");
  await column.run(still, ...readVerbs);
  const waiting = [column.begin(still, "prompt", "follow-up"), column.begin(steered, "steer", "resume", "retry")];
  // Both take until SIGKILL.
  for (const { done } of endings) await done();
  expect(waiting.map(({ pending }) => pending())).toEqual([
    ["prompt", "follow-up"],
    ["steer", "resume", "retry"],
  ]);
  for (const worker of workers) signal(worker, "SIGCONT");
  for (const { done } of waiting) await done();
  expect(await column.finish()).toEqual([]);
  expect(workers.map((worker) => isRunning(worker))).toEqual([true, true, false, false]);
}, 90_000);
