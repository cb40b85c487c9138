import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Home } from "../support/home.ts";
import { isRunning } from "../support/processes.ts";
import { type SessionRow, errorCode, parseRow } from "../support/rows.ts";
import { Column } from "./column.ts";
import { OwnNode, descriptorOf, untilLifecycle } from "./hold.ts";
import { hasWorkers, openSessions, sessionsByName } from "./sessions.ts";
import { readVerbs } from "./table.ts";

/** Everything that leaves a failed session as it is, and looks at it. */
async function refused(column: Column, session: SessionRow): Promise<void> {
  await column.run(session, "prompt", "follow-up", "steer", "cancel", "passivate", "unarchive", "rename", "set");
  await column.run(session, ...readVerbs);
}

type Ends = Readonly<Record<"ended" | "hidden" | "gone", SessionRow>>;

async function ends(column: Column, { ended, hidden, gone }: Ends): Promise<void> {
  const begun = [column.begin(ended, "stop"), column.begin(hidden, "archive"), column.begin(gone, "delete")];
  for (const { done } of begun) await done();
}

/** Whether a failed session whose process lives was kept by a delete and ended by a stop. */
async function deletedAlive(home: Home, session: SessionRow): Promise<unknown[]> {
  const worker = home.worker(session);
  await home.kill(home.daemon());
  // No way of its own leads here, since a session fails only when its process is proven gone: the record says so falsely.
  const path = home.descriptorPath(session.sessionId);
  writeFileSync(path, readFileSync(path, "utf8").replace('"lifecycle":"ready"', '"lifecycle":"failed"'));
  await home.ok(["daemon", "start"]);
  const { state } = await home.show(session.sessionId);
  const refusal = await home.agent(["session", "delete", session.sessionId, "--yes", "--json"]);
  const kept = [state, refusal.code, errorCode(refusal.stderr), isRunning(worker)];
  const stopped = parseRow((await home.ok(["stop", session.sessionId, "--json"])).stdout);
  return [...kept, stopped.state, isRunning(worker)];
}

it("I154 every verb in failed, with the last process still named: its directory is missing", async () => {
  await using home = await Home.open();
  const directory = join(home.files, "directory");
  mkdirSync(directory);
  const sessions = await openSessions(home, ["still", "ended", "hidden", "gone"], "--cwd", directory);
  const fail = async (session: SessionRow): Promise<void> => {
    await home.kill(home.worker(session));
    await untilLifecycle(home, session, "failed");
  };
  rmdirSync(directory);
  await Promise.all(Object.values(sessions).map(fail));
  const column = new Column(home, "failed");
  await refused(column, sessions.still);
  expect(hasWorkers(home)).toBe(false);
  await ends(column, sessions);
  mkdirSync(directory);
  await column.run(sessions.still, "resume");
  rmdirSync(directory);
  await fail(sessions.still);
  mkdirSync(directory);
  await column.run(sessions.still, "retry");
  expect(await column.finish()).toEqual([]);
  expect(await deletedAlive(home, sessions.still)).toEqual(["failed", 5, "session_running", true, "stopped", false]);
}, 90_000);

it("every verb in failed without a process: its worker's program could not be started", async () => {
  await using home = await Home.open();
  const node = await OwnNode.startDaemon(home);
  node.remove();
  const names = ["still", "again", "ended", "hidden", "gone"] as const;
  const creations = await Promise.all(names.map((name) => home.agent(["session", "new", "--name", name, "--json"])));
  expect(creations.map(({ code, stderr }) => [code, errorCode(stderr)])).toEqual(
    names.map(() => [6, "session_failed"]),
  );
  const sessions = sessionsByName(await home.list(), names);
  expect(Object.values(sessions).map((session) => descriptorOf(home, session))).toEqual(names.map(() => null));
  const column = new Column(home, "unlaunched", { shown: "failed", seen: false });
  await refused(column, sessions.still);
  expect(hasWorkers(home)).toBe(false);
  await ends(column, sessions);
  node.open();
  await column.run(sessions.still, "resume");
  await column.run(sessions.again, "retry");
  expect(await column.finish()).toEqual([]);
}, 90_000);
