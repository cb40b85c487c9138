import { expect, it } from "vitest";
import { Home } from "../support/home.ts";
import { errorCode } from "../support/rows.ts";
import { Column } from "./column.ts";
import { openSessions } from "./sessions.ts";
import { readVerbs } from "./table.ts";

/** What differs while a turn runs. */
async function answersOfBusy(home: Home, sessionId: string): Promise<unknown[]> {
  const commands = [
    ["passivate", sessionId],
    ["steer", sessionId, "a line"],
    ["steer", sessionId, "sleep 600", "--interrupt"],
    ["cancel", sessionId],
  ];
  const answers: unknown[] = [];
  for (const command of commands) {
    const { code, stdout, stderr } = await home.agent(["session", ...command, "--json"]);
    const { status }: { readonly status?: string } = JSON.parse(stdout || "{}");
    answers.push([code, errorCode(stderr), status]);
  }
  return answers;
}

it("every verb in ready", async () => {
  await using home = await Home.open();
  const { still, ended, hidden, idle } = await openSessions(home, ["still", "ended", "hidden", "idle"]);
  const column = new Column(home, "ready");
  await column.run(still, "cancel", "resume", "retry", "delete", "unarchive", "rename", "set");
  // One after the other: a steer that finds a turn running is injected.
  await column.run(still, "steer");
  await column.run(still, "prompt", "follow-up", ...readVerbs);
  await column.run(idle, "passivate");
  await home.ok(["session", "prompt", ended.sessionId, "read -r line; echo got $line; sleep 600", "--no-wait"]);
  expect(await answersOfBusy(home, ended.sessionId)).toEqual([
    [5, "session_busy", undefined],
    [0, undefined, "injected"],
    [0, undefined, "interrupted"],
    [0, undefined, undefined],
  ]);
  const begun = [column.begin(ended, "stop"), column.begin(hidden, "archive")];
  for (const { done } of begun) await done();
  expect(await column.finish()).toEqual([]);
});
