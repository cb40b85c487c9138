import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeFileSystem } from "@holdfast/recovery-journal";
import { createObserver } from "@holdfast/shared-process";
import { FakeClock, FakeProcessTable } from "@holdfast/shared-process/testing";
import type { SessionRecord } from "@holdfast/session-worker/transport";
import { expect, it, onTestFinished } from "vitest";
import type { Booted } from "./boot.testing.ts";
import { bootHome } from "./boot.testing.ts";
import { descriptorPath } from "./descriptor.ts";
import { prepareHome } from "./home.ts";
import { intentOf } from "./lifecycle/samples.testing.ts";
import { rowsOffline } from "./offline/sessions.ts";
import { makeSession, sessionRecordOf } from "./session-record.testing.ts";

const sessionId = "01a2aaaa-0000-7000-8000-000000000001";
const PID = 50;
const golden = join(import.meta.dirname, "..", "golden");
const forms = readdirSync(golden).filter((name) => name.startsWith("worker-"));

interface Case {
  readonly form: string;
  readonly lifecycle?: string;
  readonly startId?: string | null;
  readonly process?: "alive" | "gone" | "unreadable";
  readonly wanted?: SessionRecord["wanted"];
  readonly more?: object;
}

/** A home with one session, and beside it a worker record of an older form, changed as the case says. */
async function homeWith(found: Case) {
  const home = join(mkdtempSync(join(tmpdir(), "older-")), "home");
  onTestFinished(() => rmSync(join(home, ".."), { recursive: true }));
  prepareHome(nodeFileSystem, home);
  await makeSession(home, sessionRecordOf(sessionId, { wanted: found.wanted ?? "running" }));
  const text = changed(readFileSync(join(golden, found.form), "utf8"), found);
  writeFileSync(descriptorPath(home, sessionId), text);
  const table = new FakeProcessTable();
  const { process = "alive" } = found;
  if (process !== "gone") table.start({ pid: PID, startTicks: "5000" });
  if (process === "unreadable") table.change(PID, { unreadable: { stat: "EACCES" } });
  return { home, text, table };
}

function changed(text: string, { lifecycle, startId, more }: Case): string {
  const record = JSON.parse(text);
  if (lifecycle !== undefined) record.lifecycle = lifecycle;
  const holder = record.process ?? record;
  if (startId === null) delete holder.processStartId;
  else if (startId !== undefined) holder.processStartId = startId;
  return JSON.stringify({ ...record, ...more });
}

async function boot(found: Case, forMaintenance = false) {
  const world = await homeWith(found);
  const clock = new FakeClock();
  const looked: number[] = [];
  const observer = createObserver({ mode: "narrow", ports: world.table, clock });
  const watching = {
    ...observer,
    identify: (pid: number) => {
      looked.push(pid);
      return observer.identify(pid);
    },
    verdict: (identity: Parameters<typeof observer.verdict>[0]) => {
      looked.push(identity.pid);
      return observer.verdict(identity);
    },
  };
  const booted = bootHome({ home: world.home, clock, observer: watching, forMaintenance });
  const state = await booted.published(sessionId);
  const files = readdirSync(join(world.home, "workers"));
  const bytes = files.includes(`${sessionId}.json`)
    ? readFileSync(descriptorPath(world.home, sessionId), "utf8")
    : null;
  return { ...world, clock, booted, state, looked, bytes };
}

const outcome = ({ booted, state }: { booted: Booted; state: { name: string } | null }): string =>
  booted.quarantined.has(sessionId) ? "quarantined" : (state?.name ?? "absent");

const starts = {
  absent: null,
  equal: "proc:5000",
  different: "proc:4000",
  unverifiable: "ps:Mon Jan  1 2024",
} as const;
const whenAlive = {
  absent: "quarantined",
  equal: "reconnecting",
  different: "recovering",
  unverifiable: "quarantined",
};

const cases = [
  ...(["absent", "equal", "different", "unverifiable"] as const).map((start) => ({ start, process: "alive" }) as const),
  { start: "equal", process: "gone" },
  { start: "equal", process: "unreadable" },
] as const;

it.each(forms.flatMap((form) => cases.map((found) => ({ form, ...found }))))(
  "I81 I84 $form with a start id that is $start and a process that is $process: promoted only when proven, never signalled",
  async ({ form, start, process }) => {
    for (const lifecycle of ["ready", "stopping", "failed"]) {
      const seen = await boot({ form, startId: starts[start], process, lifecycle });
      const base = process === "alive" ? whenAlive[start] : process === "gone" ? "recovering" : "quarantined";
      const stopped = { reconnecting: "stopping", recovering: "finalizing", quarantined: "quarantined" }[base];
      const failed = base === "recovering" ? "failed" : base;
      const expected = lifecycle === "stopping" ? stopped : lifecycle === "failed" ? failed : base;
      expect([lifecycle, outcome(seen)]).toEqual([lifecycle, expected]);
      expect(seen.table.delivered).toEqual([]);
      expect(seen.booted.effects.filter(([, { type }]) => type === "spawn" || type === "signal")).toEqual([]);
      const isKept = expected === "quarantined";
      expect(seen.bytes === seen.text).toBe(isKept || expected === "finalizing");
      const isPromoted = expected === "reconnecting" || expected === "stopping";
      expect(seen.bytes?.includes('"protocol":null') ?? false).toBe(isPromoted);
    }
  },
);

it.each(forms)(
  "I83 I90 the number in a passivated %s is neither looked at nor signalled, and never woken",
  async (form) => {
    const seen = await boot({ form, lifecycle: "passivated" });
    expect([outcome(seen), seen.looked, seen.table.delivered, seen.bytes]).toEqual(["passivated", [], [], null]);
    expect(seen.booted.effects).toEqual([]);
  },
);

it.each(forms)("I81 %s of a lifecycle that is not known is left as it is", async (form) => {
  const seen = await boot({ form, lifecycle: "hibernating" });
  expect([outcome(seen), seen.looked, seen.bytes]).toEqual(["quarantined", [], seen.text]);
});

it.each(forms)(
  "I84 %s that is promoted is of this machine and boot from then on, and a stop signals it",
  async (form) => {
    const { booted, state } = await boot({ form });
    expect(state).toMatchObject({
      name: "reconnecting",
      process: { identity: { pid: PID, bootId: expect.any(String), machineId: expect.any(String) } },
    });
    booted.context.registry.dispatch(sessionId, { type: "stop", intent: intentOf("stop") });
    await booted.context.registry.drained();
    expect(booted.effects.map(([, { type }]) => type)).toEqual(["connect", "watch", "signal", "watch"]);
  },
);

it("keeps the generation that a nested one has", async () => {
  const { state } = await boot({ form: "worker-nested.json" });
  expect(state).toMatchObject({ process: { generation: "3f2b8a10-5c4d-4e6f-8a7b-9c0d1e2f3a4b" } });
});

it.each([
  ["its version", { version: 3 }],
  ["its id", { workerId: "01a2aaaa-0000-7000-8000-000000000002" }],
  ["its token", { authenticationToken: 7 }],
  ["its number", { pid: -1 }],
  ["its generation", { generation: "first" }],
])("I81 I109 an older record is quarantined, not ignored, when %s is none", async (_what, more) => {
  const seen = await boot({ form: "worker-v2-flat.json", more });
  expect([outcome(seen), seen.looked, seen.bytes]).toEqual(["quarantined", [], seen.text]);
});

it.each(["stopped", "archived"] as const)(
  "I129 a session that is %s is not brought back by an older record",
  async (wanted) => {
    expect(outcome(await boot({ form: "worker-v2-flat.json", process: "gone", wanted }))).toBe("finalizing");
    expect(outcome(await boot({ form: "worker-v2-flat.json", wanted }))).toBe("stopping");
  },
);

it("an older stop goes on under its own goal", async () => {
  const more = { stopRequestedAt: "2024-05-01T10:00:06.000Z", archiveOnStop: true };
  const { state } = await boot({ form: "worker-v2-flat.json", more });
  expect(state).toMatchObject({ intent: { goal: "archive", requestedAt: "2024-05-01T10:00:06.000Z" } });
});

it.each(forms)("I90 a stop of everything leaves %s to a daemon, and looks at nothing that it names", async (form) => {
  const seen = await boot({ form, more: { stopRequestedAt: 1 } }, true);
  expect([seen.state, seen.looked, seen.bytes]).toEqual([null, [], seen.text]);
});

it("I90 without a daemon it is listed, with what looks at it", async () => {
  const { home } = await homeWith({ form: "worker-v1-flat.json" });
  const looks: number[] = [];
  const real = createObserver({ library: "never" });
  const observer = {
    ...real,
    verdict: (identity: Parameters<typeof real.verdict>[0]) => {
      looks.push(identity.pid);
      return real.verdict(identity);
    },
  };
  expect(rowsOffline(home, observer)).toMatchObject([
    { sessionId, pid: null, reason: expect.stringContaining("older form") },
  ]);
  expect(looks).toEqual([]);
});
