import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Home } from "./support/home.ts";
import { identityOf } from "./support/processes.ts";
import { waitFor } from "./support/wait-for.ts";

interface Logged {
  readonly msg: string;
  readonly generation?: string;
  readonly exit?: { readonly status: unknown };
}

const logged = (home: Home, message: string): Logged[] =>
  readFileSync(join(home.path, "logs", "supervisor.log"), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line): Logged => JSON.parse(line))
    .filter(({ msg }) => msg === message);

it("I94 the end of an adopted worker is told as an event, with its real status, and the session goes on", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s");
  await home.kill(home.daemon());
  await home.list();
  const worker = home.worker(row);
  await home.kill(worker);
  const relaunched = async (): Promise<boolean> => {
    const now = await home.show("s");
    return now.state === "ready" && now.pid !== row.pid;
  };
  await waitFor(relaunched, "another worker serves the session", 20_000);
  expect(logged(home, "the adopted worker ended")).toMatchObject([{ exit: { status: { signal: "SIGKILL" } } }]);
  expect(identityOf(home.worker(row).pid)).not.toBeNull();
});

it("the built command names its back-end, and identities carry the kernel's own id", async () => {
  await using home = await Home.open();
  expect((await home.ok(["version", "--json"])).stdout).toContain('"backend":"linux-pidfd"');
  const row = await home.newSession("s");
  const records = [home.ownerPath(), home.descriptorPath(row.sessionId)].map((path) => readFileSync(path, "utf8"));
  for (const record of records) expect(record).toMatch(/"pidfsInode": ?"\d+"/);
});
