import { expect, it } from "vitest";
import { Home } from "../support/home.ts";
import type { SessionRow } from "../support/rows.ts";
import { Column } from "./column.ts";
import { descriptorOf, killIntoRecovery, spendQuickRelaunches, untilLifecycle } from "./hold.ts";
import { hasWorkers, openSessions } from "./sessions.ts";
import type { Verb } from "./table.ts";

/** Few at a time, so that they end within the 5 s until the relaunch on a busy machine too. */
const rounds: readonly (readonly Verb[])[] = [
  ["prompt", "follow-up", "steer"],
  ["cancel", "passivate", "delete"],
  ["unarchive", "rename", "set"],
  ["attach", "show", "transcript"],
  ["logs", "wait"],
];

/** Without a command, since the window is short. Relaunches are counted beside it: none happened meanwhile. */
function stateOf(home: Home): (session: SessionRow) => string {
  return (session) => {
    const found = descriptorOf(home, session);
    return found?.lifecycle === "recovering" && found.launches.length === 2 ? "recovering" : "relaunched";
  };
}

it("I136 every verb while a session waits for the relaunch of its worker", async () => {
  await using home = await Home.open();
  const { still, ended, hidden } = await openSessions(home, ["still", "ended", "hidden"]);
  await Promise.all([still, ended, hidden].map((session) => spendQuickRelaunches(home, session)));
  const during = new Column(home, "recovering", { stateOf: stateOf(home) });
  const column = new Column(home, "recovering");
  for (const round of rounds) {
    await killIntoRecovery(home, still);
    await during.run(still, ...round);
    // Now, not later, and none of those that the budget counts.
    await column.run(still, "retry");
    await untilLifecycle(home, still, "ready", 2);
    await during.hasRun();
  }
  await killIntoRecovery(home, still);
  await column.run(still, "resume");
  // It joined the relaunch that was due.
  await untilLifecycle(home, still, "ready", 3);
  const untried = await during.finish();

  await home.ok(["session", "passivate", still.sessionId]);
  await Promise.all([ended, hidden].map((session) => killIntoRecovery(home, session)));
  const endings = [column.begin(ended, "stop"), column.begin(hidden, "archive")];
  for (const { done } of endings) await done();
  expect(hasWorkers(home)).toBe(false);
  expect(await column.finish()).toEqual(rounds.flat());
  expect(untried).toEqual(["stop", "resume", "retry", "archive"]);
}, 120_000);
