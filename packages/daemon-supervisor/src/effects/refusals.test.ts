import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Peer } from "@holdfast/client/protocol";
import type { WorkerHello, WorkerReport } from "@holdfast/session-worker/transport";
import { expect, it, onTestFinished } from "vitest";
import { SESSION, World } from "../world.testing.ts";

const report: WorkerReport = {
  activity: "idle",
  openOperations: 0,
  lastActivityAt: 0,
  waitingFor: null,
  degraded: null,
};

const hello: WorkerHello = { kind: "hello", phase: "serving", sessionId: SESSION, generation: "g", pid: 50, report };

/** A session that waits for its worker, which lives and answers each hello with the next of `answers`: none, it hangs up. */
async function reconnecting(...answers: (WorkerHello | null)[]) {
  const folder = mkdtempSync(join(tmpdir(), "hf-channels-"));
  const world = await World.create();
  world.table.start({ pid: 50 });
  const seen = world.context.observer.identify(50);
  if (seen.kind !== "identified") throw new Error(seen.why);
  const process = { ...world.worker(), identity: seen.identity, socketPath: join(folder, "s") };
  const peers: Peer[] = [];
  const server = createServer((socket) => {
    const answer = answers[Math.min(peers.length, answers.length - 1)] ?? null;
    const peer = new Peer(socket, { onRequest: async () => answer });
    peers.push(peer);
    if (answer === null) peer.destroy();
  });
  await new Promise<void>((resolve) => void server.listen(process.socketPath, resolve));
  onTestFinished(() => {
    for (const peer of peers) peer.destroy();
    server.close();
    rmSync(folder, { recursive: true });
  });
  world.enroll({ name: "reconnecting", process, launches: [], due: null });
  await world.registry.drained();
  /** Lets time and sockets go on, until it is over. */
  const until = async (isOver: () => boolean): Promise<void> => {
    while (!isOver()) {
      await new Promise<void>((resolve) => void setImmediate(resolve));
      world.clock.advance(10);
    }
  };
  let isOver = false;
  const connected = world.channels.connect(SESSION, process).then(() => (isOver = true));
  return { world, process, peers, until, ended: () => until(() => isOver).then(() => connected) };
}

it.each(["token", "generation"] as const)(
  "I102 a worker that refuses the %s is asked once: the session says so, and its end is still noticed",
  async (why) => {
    const { world, peers, until, ended } = await reconnecting({ kind: "refused", why });
    await ended();
    expect([peers.length, world.state()?.name]).toEqual([1, "reconnecting"]);
    expect(world.services().sessions.row(SESSION)).toMatchObject({
      state: "recovering",
      reason: `its worker refuses this daemon (${why}): only a stop ends it`,
    });
    world.table.reap(50);
    await until(() => world.registry.published(SESSION)?.name === "recovering");
    expect(world.services().sessions.row(SESSION).reason ?? "").not.toContain("refuses");
  },
);

it("I102 any other trouble is tried again for as long as it takes", async () => {
  const { world, peers, ended } = await reconnecting(null, null, null, hello);
  await ended();
  expect([peers.length, world.state()?.name]).toEqual([4, "ready"]);
});

it("I120 a worker's word changes nothing once the session has another worker, and nothing is removed by one", async () => {
  const { world, process, peers, until, ended } = await reconnecting(hello);
  await ended();
  peers[0]?.notify("worker/closing", { reason: "SIGTERM" });
  await until(() => world.state()?.name === "stopping");
  world.registry.dispatch(SESSION, { type: "process_gone", generation: process.generation, how: "gone" });
  expect(world.state()?.name).toBe("finalizing");
  const next = { ...world.worker("h"), identity: process.identity };
  world.enroll({ name: "ready", process: next, launches: [], due: null });
  peers[0]?.notify("worker/closing", { reason: "late" });
  peers[0]?.notify("worker/activity", { ...report, openOperations: 7 });
  await until(() => world.channels.report(SESSION)?.openOperations === 7);
  for (const event of [
    { type: "process_gone", generation: "g", how: "gone" },
    { type: "channel_closed", generation: "g" },
  ] as const)
    expect(world.registry.dispatch(SESSION, event).kind).toBe("stale");
  expect(world.answer({ type: "finalized", stopId: "s", fresh: world.fresh() })).toBe("stale");
  expect(world.state()).toMatchObject({ name: "ready", process: { generation: "h" } });
});
