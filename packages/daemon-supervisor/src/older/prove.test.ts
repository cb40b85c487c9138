import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createObserver } from "@holdfast/shared-process";
import { FakeProcessTable } from "@holdfast/shared-process/testing";
import { expect, it } from "vitest";
import { olderLifecycles, readOlder } from "./form.ts";
import type { OlderRecord } from "./form.ts";
import { proveOlder } from "./prove.ts";

const golden = join(import.meta.dirname, "..", "..", "golden");
const forms = readdirSync(golden).filter((name) => name.startsWith("worker-"));
const sessionId = "01a2aaaa-0000-7000-8000-000000000001";
const PID = 50;

function recordOf(form: string): OlderRecord {
  const read = readOlder(JSON.parse(readFileSync(join(golden, form), "utf8")), sessionId);
  if (read.kind !== "older") throw new Error(`${form} is ${read.kind}`);
  return read.record;
}

const startIds = { absent: null, equal: "proc:5000", different: "proc:4000", unverifiable: "ps:Mon Jan  1 2024" };
const whenAlive = { absent: "quarantine", equal: "current", different: "ended", unverifiable: "quarantine" } as const;

it.each(forms)("I81 I83 I84 %s: every lifecycle, start id and fate of the process", (form) => {
  const record = recordOf(form);
  for (const lifecycle of [...olderLifecycles, "unknown"] as const) {
    for (const start of ["absent", "equal", "different", "unverifiable"] as const) {
      for (const fate of ["alive", "gone", "unreadable"] as const) {
        const table = new FakeProcessTable();
        if (fate !== "gone") table.start({ pid: PID, startTicks: "5000" });
        if (fate === "unreadable") table.change(PID, { unreadable: { stat: "EACCES" } });
        const observer = createObserver({ mode: "narrow", ports: table });
        const named = { pid: PID, startId: startIds[start] };
        const proof = proveOlder(observer, { ...record, lifecycle, named }).kind;
        const told = { alive: whenAlive[start], gone: "ended", unreadable: "quarantine" }[fate];
        const expected = lifecycle === "passivated" ? "rest" : lifecycle === "unknown" ? "quarantine" : told;
        expect([lifecycle, start, fate, proof]).toEqual([lifecycle, start, fate, expected]);
        expect(table.delivered).toEqual([]);
      }
    }
  }
});

it.each([
  ["worker-v1-flat.json", "flat-1", null],
  ["worker-v2-flat.json", "flat-2", null],
  ["worker-nested.json", "nested", "3f2b8a10-5c4d-4e6f-8a7b-9c0d1e2f3a4b"],
  ["worker-nested-without-generation.json", "nested", null],
])("reads %s", (name, form, generation) => {
  expect(recordOf(name)).toEqual({
    form,
    lifecycle: "ready",
    named: { pid: PID, startId: "proc:5000" },
    generation,
    socketPath: "/tmp/old-0/worker-0123456789ab-01a2aaaa-000.sock",
    token: "dG9rZW4",
    stop: null,
  });
});
