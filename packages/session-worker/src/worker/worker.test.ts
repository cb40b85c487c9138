import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createObserver } from "@holdfast/shared-process";
import { FakeClock } from "@holdfast/shared-process/testing";
import { expect, it, onTestFinished } from "vitest";
import { WORKER_PROTOCOL_VERSION } from "../transport/messages.ts";
import { Worker } from "./worker.ts";
import { systemWorld } from "./world.ts";

function blankWorker() {
  const home = mkdtempSync(join(tmpdir(), "hf-worker-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const clock = new FakeClock();
  const said: string[] = [];
  const socketPath = join(home, "w.sock");
  const orders = {
    protocol: WORKER_PROTOCOL_VERSION,
    home,
    sessionId: "s",
    generation: "g",
    token: "t",
    marker: "m",
    socketPath,
    cgroupPath: null,
    epoch: 1,
    supervisor: null,
  };
  const observer = createObserver({ library: "never" });
  const say = (text: string): void => void said.push(text);
  const worker = new Worker({ orders, world: { ...systemWorld(), clock, observer, say } });
  return { home, clock, said, socketPath, worker };
}

it("a worker that no supervisor came to is to be found by nobody from the moment in which it decides to end", async () => {
  const { clock, said, socketPath, worker } = blankWorker();
  await worker.listen();
  expect(existsSync(socketPath)).toBe(true);
  for (let look = 0; look < 360 && existsSync(socketPath); look += 1) {
    clock.advance(5_000);
    await new Promise((resolve) => void setImmediate(resolve));
  }
  expect([existsSync(socketPath), said]).toEqual([false, ["ending: no supervisor came"]]);
  expect(clock.monotonic()).toBe(30 * 60_000);
  await worker.ended;
});

it("I146 it binds its socket again while it is alone", async () => {
  const { clock, socketPath, worker } = blankWorker();
  await worker.listen();
  rmSync(socketPath);
  clock.advance(5_000);
  await expect.poll(() => existsSync(socketPath)).toBe(true);
  worker.close("over");
  await worker.ended;
});
