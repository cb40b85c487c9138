import {
  chmodSync,
  existsSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Home } from "./support/home.ts";
import { signal } from "./support/processes.ts";
import { errorCode } from "./support/rows.ts";
import type { SessionRow } from "./support/rows.ts";
import { waitFor } from "./support/wait-for.ts";

interface Problem {
  readonly kind: string;
  readonly subject: string;
  readonly reason: string;
  readonly repair?: string;
  readonly needs?: readonly string[];
}
interface Told {
  readonly kind: string;
  readonly subject: string;
}
interface Answer {
  readonly schemaVersion: number;
  readonly problems: readonly Problem[];
  readonly repaired: readonly Told[];
  readonly kept: readonly Told[];
  readonly failed: readonly Told[];
}

/** What the machine of the test cannot do is no finding about the home. */
const ofMachine = ["narrow_signals", "no_peer_check"];

async function doctor(home: Home, ...args: readonly string[]): Promise<Answer & { readonly code: number | null }> {
  const { code, stdout, stderr } = await home.agent(["doctor", "--json", ...args]);
  if (stdout === "") throw new Error(`agent doctor ${args.join(" ")}: exit ${code}: ${stderr}`);
  const answer: Answer = JSON.parse(stdout);
  return { ...answer, code, problems: answer.problems.filter(({ kind }) => !ofMachine.includes(kind)) };
}

const epochOf = (home: Home): number => Number(/(\d+)\.json$/.exec(home.ownerPath())?.[1]);

interface Recorded {
  identity: object;
  lifelinePath: string | null;
}

/** As of a process in a place that cannot be seen from here, under a number that an innocent process has here. */
function hide(home: Home, recorded: Recorded, where: object): void {
  const { pid } = home.canary.identity;
  recorded.identity = { ...recorded.identity, pid, pidfsInode: null, ...where };
  recorded.lifelinePath = null;
}

function hideOwner(home: Home, where: object): void {
  const record: Recorded = JSON.parse(readFileSync(home.ownerPath(), "utf8"));
  hide(home, record, where);
  writeFileSync(home.ownerPath(), `${JSON.stringify(record)}\n`);
}

function hideWorker(home: Home, { sessionId }: SessionRow): void {
  const path = home.descriptorPath(sessionId);
  const descriptor: { process: Recorded } = JSON.parse(readFileSync(path, "utf8"));
  hide(home, descriptor.process, { pidNamespace: "pid:[1]" });
  writeFileSync(path, `${JSON.stringify(descriptor)}\n`);
}

it("finds nothing wrong in a home that is well, and starts no daemon to find that out", async () => {
  await using home = await Home.open();
  expect(await doctor(home)).toMatchObject({ code: 0, schemaVersion: 1, problems: [] });
  expect(existsSync(home.path)).toBe(false);
  await home.newSession("s", "--prompt", "echo fine");
  expect(await doctor(home)).toMatchObject({ code: 0, problems: [] });
  await home.ok(["daemon", "stop", "--force"]);
  expect(await doctor(home)).toMatchObject({ code: 0, problems: [] });
  expect(home.supervisors()).toEqual([]);
});

it.each([
  { what: "of another machine", where: { machineId: "0".repeat(32) } },
  { what: "in another pid namespace", where: { pidNamespace: "pid:[1]" } },
])("I163 I164 I165 an owner $what stops every start until a person asserts that it is gone", async ({ where }) => {
  await using home = await Home.open();
  const row = await home.newSession("s");
  await home.kill(home.daemon());
  hideOwner(home, where);
  const epoch = epochOf(home);
  expect(await home.agent(["daemon", "run"])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("agent doctor"),
  });
  const found = { kind: "owner_unknown", subject: home.path, needs: ["gone"] };
  expect(await doctor(home)).toMatchObject({ code: 0, problems: [found] });
  // No general consent stands for an assertion.
  expect(await doctor(home, "--repair", "--yes")).toMatchObject({
    code: 0,
    repaired: [],
    kept: [{ subject: home.path }],
  });
  expect(epochOf(home)).toBe(epoch);
  const asserted = await doctor(home, "--repair", "--assert-gone", home.path);
  expect(asserted).toMatchObject({ code: 0, repaired: [{ kind: "owner_unknown", subject: home.path }], failed: [] });
  expect(epochOf(home)).toBe(epoch + 1);
  expect(await home.agent(["prompt", "s", "echo served"])).toMatchObject({ code: 0, stdout: "served\n" });
  expect(epochOf(home)).toBe(epoch + 2);
  expect((await home.show("s")).pid).toBe(row.pid);
  expect(home.canary.touched()).toBe("");
});

it("I164 a daemon that lives although it was asserted to be gone finds itself superseded, and its workers go on", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s");
  const daemon = home.daemon();
  home.freeze(daemon);
  hideOwner(home, { pidNamespace: "pid:[1]" });
  const { repaired } = await doctor(home, "--repair", "--assert-gone", home.path);
  expect(repaired).toMatchObject([{ kind: "owner_unknown" }]);
  signal(daemon, "SIGCONT");
  expect((await home.ok(["prompt", "s", "echo served"])).stdout).toBe("served\n");
  expect(home.daemon()).not.toEqual(daemon);
  expect((await home.show("s")).pid).toBe(row.pid);
  expect(home.supervisors().map(({ pid }) => pid)).not.toContain(daemon.pid);
});

it("I164 I131 a worker of unknown identity is taken for gone by a person's word, and its number is never signalled", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s", "--prompt", "echo before");
  await home.kill(home.daemon());
  await home.kill(home.worker(row));
  hideWorker(home, row);
  await home.ok(["daemon", "start"]);
  expect((await home.show("s")).state).toBe("recovering");
  const found = { kind: "worker_unknown", subject: row.sessionId, needs: ["gone"] };
  expect(await doctor(home)).toMatchObject({ code: 0, problems: [found] });
  const unsaid = await home.agent(["doctor", "--repair", "--json"]);
  expect([unsaid.code, errorCode(unsaid.stderr)]).toEqual([2, "confirmation_required"]);
  expect((await home.show("s")).state).toBe("recovering");
  const asserted = await doctor(home, "--repair", "--assert-gone", row.sessionId);
  expect(asserted).toMatchObject({ code: 0, repaired: [{ kind: "worker_unknown" }], failed: [] });
  await home.untilState("s", "ready");
  expect((await home.ok(["prompt", "s", "echo after"])).stdout).toBe("after\n");
  expect(home.canary.touched()).toBe("");
  expect(await doctor(home)).toMatchObject({ problems: [] });
});

it("I164 a stop that waits for a worker of unknown identity ends by a person's word, also where no daemon ran", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s");
  await home.kill(home.daemon());
  await home.kill(home.worker(row));
  hideWorker(home, row);
  await home.agent(["stop", "s", "--no-wait"]);
  await home.kill(home.daemon());
  expect(await doctor(home, "--repair", "--assert-gone", row.sessionId)).toMatchObject({
    code: 0,
    repaired: [{ kind: "worker_unknown" }],
  });
  await home.untilState("s", "stopped");
  expect(existsSync(home.descriptorPath(row.sessionId))).toBe(false);
  expect(home.canary.touched()).toBe("");
});

it("I142 I81 a damaged descriptor is told with and without a daemon, and kept as evidence when its session is released", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s");
  await home.kill(home.daemon());
  const path = home.descriptorPath(row.sessionId);
  const worker = home.worker(row);
  writeFileSync(path, "damage");
  const found = { kind: "descriptor_damaged", subject: row.sessionId, reason: expect.stringMatching(/is not JSON/) };
  // Its worker lives: nothing may take its place, whatever anybody says.
  const living = (await doctor(home)).problems.find(({ subject }) => subject === row.sessionId);
  expect(living).toMatchObject({ ...found, reason: expect.stringMatching(/process \d+/) });
  expect(living?.needs).toBe(undefined);
  await home.kill(worker);
  expect(await doctor(home)).toMatchObject({ code: 0, problems: [{ ...found, needs: [] }] });
  await home.ok(["daemon", "start"]);
  expect(await home.agent(["prompt", "s", "echo no"])).toMatchObject({
    code: 7,
    stderr: expect.stringContaining("hint: agent doctor "),
  });
  expect(await doctor(home)).toMatchObject({ code: 0, problems: [{ ...found, needs: [] }] });
  expect(await doctor(home, "--repair", "--yes")).toMatchObject({
    code: 0,
    repaired: [{ kind: "descriptor_damaged" }],
  });
  const kept = readdirSync(join(home.path, "workers")).filter((name) => name.startsWith(row.sessionId));
  expect(kept).toEqual([expect.stringMatching(/\.json\.damaged-/)]);
  expect(readFileSync(join(home.path, "workers", kept[0] ?? ""), "utf8")).toBe("damage");
  expect(await home.show("s")).toMatchObject({ state: "stopped" });
  await home.ok(["session", "resume", "s"]);
  expect(await home.show("s")).toMatchObject({ state: "ready" });
});

it("I81 I142 a session that nobody can read is moved aside by a person's word alone, whole", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s", "--prompt", "echo before");
  await home.ok(["stop", "s"]);
  const directory = join(home.path, "sessions", row.sessionId);
  const transcript = readFileSync(join(directory, "transcript.jsonl"), "utf8");
  await home.ok(["daemon", "stop"]);
  writeFileSync(join(directory, "session.json"), "damage");
  expect(await doctor(home)).toMatchObject({
    code: 0,
    problems: [{ kind: "session_unreadable", subject: row.sessionId, needs: ["loss"] }],
  });
  expect(await doctor(home, "--repair", "--yes")).toMatchObject({
    code: 0,
    repaired: [],
    kept: [{ subject: row.sessionId }],
  });
  expect(existsSync(directory)).toBe(true);
  const repaired = await doctor(home, "--repair", "--accept-loss", row.sessionId);
  expect(repaired).toMatchObject({ code: 0, repaired: [{ kind: "session_unreadable" }] });
  const [aside = ""] = readdirSync(join(home.path, "damaged"));
  const moved = join(home.path, "damaged", aside, "session");
  expect(readFileSync(join(moved, "transcript.jsonl"), "utf8")).toBe(transcript);
  expect(readFileSync(join(moved, "session.json"), "utf8")).toBe("damage");
  expect(await home.list()).toEqual([]);
  expect(await doctor(home)).toMatchObject({ problems: [] });
});

it("I71 a damaged journal is put aside, then resolved, each by a person's word, and its session resumes", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s", "--prompt", "echo before");
  await home.kill(home.daemon());
  await home.kill(home.worker(row));
  const directory = join(home.path, "sessions", row.sessionId, "journal");
  const path = join(directory, readdirSync(directory).toSorted().at(-1) ?? "");
  const bytes = readFileSync(path);
  bytes.fill("#", 40, 60);
  writeFileSync(path, bytes);
  await home.ok(["daemon", "start"]);
  await home.untilState("s", "failed");
  for (const verb of [
    ["prompt", "s", "echo no"],
    ["session", "resume", "s"],
    ["session", "retry", "s"],
  ]) {
    const { code, stderr } = await home.agent(verb);
    expect([code, stderr]).toEqual([6, expect.stringContaining("hint: agent doctor\n")]);
  }
  const failed = { kind: "session_failed", repair: expect.stringContaining(`agent session resume ${row.sessionId}`) };
  const damaged = { kind: "journal_damaged", subject: row.sessionId, needs: ["loss"] };
  expect(await doctor(home)).toMatchObject({ code: 0, problems: [failed, damaged] });
  const words = ["--repair", "--accept-loss", row.sessionId] as const;
  expect(await doctor(home, ...words)).toMatchObject({ code: 0, repaired: [{ kind: "journal_damaged" }] });
  expect(await doctor(home)).toMatchObject({ problems: [failed, { kind: "journal_quarantined", needs: ["loss"] }] });
  expect(await doctor(home, ...words)).toMatchObject({ code: 0, repaired: [{ kind: "journal_quarantined" }] });
  await home.ok(["session", "resume", "s"]);
  expect((await home.ok(["prompt", "s", "echo after"])).stdout).toBe("after\n");
  expect(readdirSync(directory).some((name) => readFileSync(join(directory, name)).equals(bytes))).toBe(true);
  expect(await doctor(home)).toMatchObject({ problems: [] });
});

it("I152 a home that others may enter is made private again, and then a daemon starts", async () => {
  await using home = await Home.open();
  await home.newSession("s");
  await home.ok(["daemon", "stop", "--force"]);
  const workers = join(home.path, "workers");
  chmodSync(workers, 0o755);
  expect((await home.agent(["daemon", "start"])).code).toBe(3);
  expect(await doctor(home)).toMatchObject({
    code: 0,
    problems: [{ kind: "unsafe_mode", subject: workers, needs: [] }],
  });
  expect(await doctor(home, "--repair", "--yes")).toMatchObject({ code: 0, repaired: [{ kind: "unsafe_mode" }] });
  expect(statSync(workers).mode & 0o777).toBe(0o700);
  expect((await home.ok(["prompt", "s", "echo served"])).stdout).toBe("served\n");
});

it("I138 a daemon that is silent is told, and is not replaced", async () => {
  await using home = await Home.open();
  await home.newSession("s");
  const daemon = home.daemon();
  home.freeze(daemon);
  const { code, problems } = await doctor(home);
  expect([code, problems]).toMatchObject([0, [{ kind: "daemon_silent", subject: home.path }]]);
  expect(home.daemon()).toEqual(daemon);
});

it("I142 records damaged under a living daemon cost nothing: it says that it holds them, and what it says mends them", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s", "--prompt", "sleep 600 & kept=yes");
  const record = join(home.path, "sessions", row.sessionId, "session.json");
  const held = (kind: string, repair: string) => ({
    kind,
    subject: row.sessionId,
    reason: expect.stringContaining("the daemon holds the session in memory"),
    repair: expect.stringContaining(repair),
  });
  truncateSync(record, 100);
  const rename = `agent session rename ${row.sessionId} s`;
  expect((await doctor(home)).problems).toEqual([held("session_unreadable", rename)]);
  await home.ok(rename.split(" ").slice(1));
  expect(await doctor(home)).toMatchObject({ problems: [] });
  const descriptor = home.descriptorPath(row.sessionId);
  const aside = join(home.files, "aside.json");
  const daemon = home.daemon();
  // What the daemon writes anew by itself is not damaged any more: it is looked at before it can.
  truncateSync(descriptor, 50);
  for (const { kind, reason, repair } of (await doctor(home)).problems) {
    expect([kind, reason]).toEqual(["descriptor_damaged", expect.stringContaining("the daemon holds the session")]);
    expect(repair).toContain(`move workers/${row.sessionId}.json out of the home`);
  }
  renameSync(descriptor, aside);
  await waitFor(() => existsSync(descriptor), "the daemon writes the descriptor anew");
  expect(await doctor(home)).toMatchObject({ problems: [] });
  expect(home.daemon()).toEqual(daemon);
  expect(await home.show("s")).toMatchObject({ pid: row.pid, state: "ready" });
  expect((await home.ok(["prompt", "s", "echo $kept"])).stdout).toBe("yes\n");
});

/** A file in the place of a folder of the home, which stands aside; what the doctor says of it. */
async function misplace(home: Home, name: string): Promise<readonly Problem[]> {
  await home.newSession("s");
  await home.ok(["daemon", "stop", "--keep-workers"]);
  const folder = join(home.path, name);
  renameSync(folder, `${folder}.aside`);
  writeFileSync(folder, "", { mode: 0o600 });
  return (await doctor(home)).problems;
}

function replace(home: Home, name: string): void {
  rmSync(join(home.path, name));
  renameSync(join(home.path, `${name}.aside`), join(home.path, name));
}

const misplaced = (home: Home, name: string) => ({
  kind: "unsafe_mode",
  subject: join(home.path, name),
  reason: "it is not a directory",
  repair: expect.stringContaining("put the folder back"),
});

it.each(["run", "sessions"])(
  "I117 I151 a file in the place of %s is told with a next step, and a start says it in one line",
  async (name) => {
    await using home = await Home.open();
    const problems = await misplace(home, name);
    expect(problems).toContainEqual(misplaced(home, name));
    // Nothing is judged by what is missing in it.
    expect(problems.filter(({ needs }) => needs !== undefined)).toEqual([]);
    const { code, stderr } = await home.agent(["daemon", "start", "--json"]);
    expect(code).not.toBe(0);
    const { error } = JSON.parse(stderr.trim().split("\n").at(-1) ?? "");
    expect(error).toMatchObject({
      message: expect.stringMatching(/: \S+ is not a directory$|^\S+ is not a directory$/),
    });
    expect(error).toMatchObject({ hint: expect.stringContaining("agent doctor") });
    replace(home, name);
    expect((await home.ok(["prompt", "s", "echo served"])).stdout).toBe("served\n");
    expect(await doctor(home)).toMatchObject({ problems: [] });
  },
);

it("a file in the place of the journal of requests is told with a next step, though a daemon starts", async () => {
  await using home = await Home.open();
  expect(await misplace(home, "journal")).toContainEqual(misplaced(home, "journal"));
  replace(home, "journal");
  expect(await doctor(home)).toMatchObject({ problems: [] });
});
