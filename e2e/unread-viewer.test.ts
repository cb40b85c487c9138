import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { expect, it } from "vitest";
import { Home } from "./support/home.ts";
import { isRunning } from "./support/processes.ts";
import { waitFor } from "./support/wait-for.ts";

const request = (id: number, method: string, params: object): string =>
  `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;

it("I29 I149 a viewer that stopped reading does not keep the daemon from ending", async () => {
  await using home = await Home.open();
  await home.newSession("s", "--prompt", "head -c 3000000 /dev/zero | tr '\\0' x");
  const daemon = home.daemon();
  const { socketPath }: { socketPath: string } = JSON.parse(readFileSync(home.ownerPath(), "utf8"));
  const socket = connect(socketPath);
  socket.write(request(1, "session/attach", { session: "s", follow: true }));
  await waitFor(() => socket.bytesRead > 0, "the stream has begun");
  socket.pause();
  await home.ok(["daemon", "stop", "--keep-workers"]);
  await waitFor(() => !isRunning(daemon), "the daemon has ended", 5_000);
  expect(socket.bytesRead).toBeLessThan(3_000_000);
  socket.destroy();
});

it("I116 a cursor that is none is a usage error, also where no worker runs, and the daemon lives on", async () => {
  await using home = await Home.open();
  await home.newSession("s", "--prompt", "echo one");
  const daemon = home.daemon();
  expect(await home.agent(["session", "transcript", "s", "--from", "garbage"])).toMatchObject({ code: 2 });
  await home.ok(["stop", "s"]);
  expect(await home.agent(["session", "attach", "s", "--no-follow", "--from", "garbage"])).toMatchObject({ code: 2 });
  expect(home.daemon()).toEqual(daemon);
  expect(isRunning(daemon)).toBe(true);
});

it("I143 a repeated creation answers with the session as it is, also when it was stopped meanwhile", async () => {
  await using home = await Home.open();
  const first = JSON.parse((await home.ok(["new", "--name", "n", "--request-id", "r-1", "--json"])).stdout);
  await home.ok(["stop", "n"]);
  const again = JSON.parse((await home.ok(["new", "--name", "n", "--request-id", "r-1", "--json"])).stdout);
  expect([again.sessionId, again.state, again.created]).toEqual([first.sessionId, "stopped", true]);
});
