import { afterAll, beforeAll, expect, it } from "vitest";
import { Home } from "./support/home.ts";
import { outputOf, parseEvents } from "./support/rows.ts";
import { waitFor } from "./support/wait-for.ts";

let home: Home;
beforeAll(async () => {
  home = await Home.create();
});
afterAll(async () => await home[Symbol.asyncDispose]());

it("I151 a killed terminal ends nothing: the turn finishes and another command shows it", async () => {
  await home.newSession("killed");
  const client = home.start(["prompt", "killed", "echo begun; sleep 1.5; echo done"]);
  await client.untilPrinted("begun");
  client.killGroup();
  expect((await client.ended).code).toBe(null);
  const finished = async (): Promise<boolean> =>
    (await home.transcript("killed")).some(({ type, exitCode }) => type === "turn_ended" && exitCode === 0);
  await waitFor(finished, "the turn ended by itself");
  expect(outputOf(await home.transcript("killed"))).toBe("begun\ndone\n");
});

it("attach goes on from a cursor: nothing twice, nothing missing", async () => {
  await home.newSession("cursor");
  const first = home.start(["attach", "cursor", "--json"]);
  await home.ok(["prompt", "cursor", "for i in 1 2 3; do echo $i; sleep 0.05; done"]);
  await first.untilPrinted("turn_ended");
  first.killGroup();
  await first.ended;
  const seen = parseEvents(first.stdout.slice(0, first.stdout.lastIndexOf("\n") + 1));
  const middle = seen[Math.floor(seen.length / 2)];
  const rest = await home.ok(["attach", "cursor", "--json", "--no-follow", "--from", middle?.cursor ?? ""]);
  const whole = await home.transcript("cursor");
  const joined = [...seen.slice(0, seen.indexOf(middle!) + 1), ...parseEvents(rest.stdout)];
  expect(joined.map(({ cursor }) => cursor)).toEqual(whole.map(({ cursor }) => cursor));
  expect(outputOf(joined)).toBe("1\n2\n3\n");
});

it("a cursor stays valid after the daemon and the worker were started anew", async () => {
  await using own = await Home.open();
  const row = await own.newSession("s");
  await own.ok(["prompt", "s", "echo before"]);
  const cursor = (await own.transcript("s")).at(-1)?.cursor ?? "";
  await own.kill(own.daemon());
  await own.kill(own.worker(row));
  expect((await own.ok(["prompt", "s", "echo after"])).stdout).toBe("after\n");
  const later = await own.transcript("s", "--from", cursor);
  expect(outputOf(later)).toBe("after\n");
});
