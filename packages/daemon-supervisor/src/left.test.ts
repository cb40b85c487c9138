import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeFileSystem } from "@holdfast/recovery-journal";
import { openSessionStore, sessionDirectory } from "@holdfast/session-worker/transport";
import type { Wanted } from "@holdfast/session-worker/transport";
import { expect, it, onTestFinished } from "vitest";
import { descriptorSchema, encodeDescriptor } from "./descriptor.ts";
import type { DescriptorShape } from "./descriptor.ts";
import { prepareHome } from "./home.ts";
import { wantedOfGone } from "./left.ts";
import { processOf } from "./lifecycle/samples.testing.ts";
import { sessionRecordOf } from "./session-record.testing.ts";

const sessionId = "01a2aaaa-0000-7000-8000-000000000001";

interface Worker {
  /** Whose journal it is. */
  readonly generation?: string;
  readonly queued?: boolean;
  /** False: killed. */
  readonly closes?: boolean;
}

async function homeAfter({ generation = "g", queued = false, closes = true }: Worker): Promise<string> {
  const home = join(mkdtempSync(join(tmpdir(), "left-")), "home");
  onTestFinished(() => rmSync(join(home, ".."), { recursive: true }));
  prepareHome(nodeFileSystem, home);
  const directory = sessionDirectory(home, sessionId);
  nodeFileSystem.mkdir(directory, 0o700);
  const owner = { generation, identity: {} };
  const opened = await openSessionStore({ directory, sessionId, owner, probeOwner: () => "gone", engine: "inline" });
  if (opened.kind !== "opened") throw new Error(opened.kind);
  if (queued) await opened.store.admit({ requestId: "r", hash: "h", kind: "prompt", text: "true" });
  if (closes) await opened.store.close();
  return home;
}

function decided(home: string, wanted: Wanted = "running", more: Partial<DescriptorShape> = {}): Wanted {
  const shape = { lifecycle: "ready", process: processOf("g"), launches: [], ...more } as const;
  const text = encodeDescriptor(sessionId, shape, { epoch: 1, at: "" });
  const descriptor = descriptorSchema.parse(JSON.parse(text));
  return wantedOfGone({ home, fs: nodeFileSystem }, sessionRecordOf(sessionId, { wanted }), descriptor);
}

it("a worker that ended by itself with nothing to do left its session to rest", async () => {
  expect(decided(await homeAfter({}))).toBe("passive");
});

it("I136 one that was killed, or left work behind, is to be replaced", async () => {
  expect(decided(await homeAfter({ closes: false }))).toBe("running");
  expect(decided(await homeAfter({ queued: true }))).toBe("running");
});

it("a journal that another generation released says nothing of this one", async () => {
  expect(decided(await homeAfter({ generation: "earlier" }))).toBe("running");
  const home = await homeAfter({});
  expect(decided(home, "running", { lifecycle: "starting" })).toBe("running");
  rmSync(`${sessionDirectory(home, sessionId)}/journal`, { recursive: true });
  expect(decided(home)).toBe("running");
});

it("I129 I130 what was asked for stands above it", async () => {
  const home = await homeAfter({});
  expect([decided(home, "stopped"), decided(home, "archived")]).toEqual(["stopped", "archived"]);
  const stop = { stopId: "s", requestedAt: "", goal: "replace", force: false } as const;
  expect(decided(home, "running", { stop })).toBe("running");
});
