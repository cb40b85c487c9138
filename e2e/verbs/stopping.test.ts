import { expect, it } from "vitest";
import type { Running } from "../support/command.ts";
import { Home } from "../support/home.ts";
import { isFrozen, isRunning } from "../support/processes.ts";
import { type SessionRow, parseRow } from "../support/rows.ts";
import { waitFor } from "../support/wait-for.ts";
import { Column } from "./column.ts";
import { descriptorOf } from "./hold.ts";
import { openSessions } from "./sessions.ts";
import { readVerbs } from "./table.ts";

/** From the stop of a frozen worker to its SIGKILL (CLI.md §6). */
const SILENT_KILL_MS = 7_000;

/** Begins the stop of a frozen worker, and returns when its intent is durable. */
async function beginStop(home: Home, session: SessionRow, ...more: string[]): Promise<Running> {
  home.freeze(home.worker(session));
  const stop = home.start(["stop", session.sessionId, "--json", ...more]);
  await waitFor(() => descriptorOf(home, session)?.stop, "the stop has begun");
  return stop;
}

/** Without a command, since the window is short. */
function stateOf(home: Home): (session: SessionRow) => string {
  return (session) => (descriptorOf(home, session)?.stop && isFrozen(home.worker(session)) ? "stopping" : "ended");
}

/** What two stops answer, the second of which may not wait. */
async function escalate(home: Home, session: SessionRow): Promise<string[]> {
  const worker = home.worker(session);
  const began = performance.now();
  const stop = await beginStop(home, session);
  const escalation = home.start(["stop", session.sessionId, "--force", "--json"]);
  await waitFor(() => !isRunning(worker), "the process is gone");
  expect(performance.now() - began).toBeLessThan(SILENT_KILL_MS);
  return [await escalation.result(), await stop.result()].map(({ stdout }) => parseRow(stdout).state);
}

it("every verb in stopping: refused, or joined to the end that is under way, which --force hastens", async () => {
  await using home = await Home.open();
  const { seen, asked, changed, again, forced } = await openSessions(home, [
    "seen",
    "asked",
    "changed",
    "again",
    "forced",
  ]);
  expect(await escalate(home, forced)).toEqual(["stopped", "stopped"]);
  const workers = [seen, asked, changed, again].map((session) => home.worker(session));
  const during = new Column(home, "stopping", { stateOf: stateOf(home) });
  const column = new Column(home, "stopping");
  // A stop for each group, few at a time, so that they end within the 7 s until SIGKILL on a busy machine too.
  const stops = [await beginStop(home, seen)];
  await during.run(seen, ...readVerbs);
  const joined = [column.begin(seen, "stop")];
  stops.push(await beginStop(home, asked));
  await during.run(asked, "prompt", "follow-up", "steer", "cancel", "passivate");
  joined.push(column.begin(asked, "archive"));
  stops.push(await beginStop(home, changed));
  await during.run(changed, "delete", "unarchive", "rename", "set");
  joined.push(column.begin(changed, "resume"));
  stops.push(await beginStop(home, again, "--archive"));
  joined.push(column.begin(again, "retry"));

  for (const { done } of joined) await done();
  expect(workers.filter((worker) => isRunning(worker))).toEqual([]);
  const answers = await Promise.all(stops.map(async (stop) => await stop.result()));
  // A stop that a resume has overtaken says what became of the session; nothing was archived but what was asked last.
  expect(answers.map(({ code, stdout }) => [code, parseRow(stdout).lifecycle])).toEqual([
    [0, "live"],
    [0, "archived"],
    [0, "live"],
    [0, "live"],
  ]);
  expect(await during.finish()).toEqual(["stop", "resume", "retry", "archive"]);
  expect(await column.finish()).toHaveLength(14);
}, 90_000);
