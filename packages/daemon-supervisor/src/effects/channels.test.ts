import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeFileSystem, replaceFile } from "@holdfast/recovery-journal";
import { createObserver, systemClock } from "@holdfast/shared-process";
import { FakeProcessTable } from "@holdfast/shared-process/testing";
import { Peer, ProtocolError } from "@holdfast/client/protocol";
import { expect, it, onTestFinished } from "vitest";
import type { Booted } from "../boot.testing.ts";
import { bootHome } from "../boot.testing.ts";
import { descriptorPath, encodeDescriptor } from "../descriptor.ts";
import { prepareHome } from "../home.ts";
import { intentOf, processOf } from "../lifecycle/samples.testing.ts";
import { makeSession, sessionRecordOf } from "../session-record.testing.ts";
import { Sessions } from "../sessions.ts";
import { Channels } from "./channels.ts";
import { Watcher } from "./watch.ts";

const sessionId = "01a2aaaa-0000-7000-8000-000000000001";
const PID = 50;
const proven = { environment: { HOLDFAST_GENERATION: "g" } };

/** A supervisor that found a live worker on record, and on its socket one that answers as the test says. */
async function meet(answer: () => unknown, protocol: number | null = 1) {
  const home = join(mkdtempSync(join(tmpdir(), "channels-")), "home");
  onTestFinished(() => rmSync(join(home, ".."), { recursive: true }));
  prepareHome(nodeFileSystem, home);
  await makeSession(home, sessionRecordOf(sessionId));
  const table = new FakeProcessTable();
  table.start({ pid: PID, ...proven });
  const observer = createObserver({ mode: "narrow", ports: table });
  const identified = observer.identify(PID);
  if (identified.kind !== "identified") throw new Error(identified.kind);
  const socketPath = join(home, "run", "w.sock");
  const process = { ...processOf("g"), identity: identified.identity, socketPath, protocol };
  const text = encodeDescriptor(sessionId, { lifecycle: "ready", process, launches: [] }, { epoch: 2, at: "" });
  replaceFile(nodeFileSystem, descriptorPath(home, sessionId), text);
  let asked = 0;
  const peers: Peer[] = [];
  const server = createServer((socket) => {
    peers.push(
      new Peer(socket, {
        onRequest: async () => {
          asked += 1;
          return answer();
        },
      }),
    );
  });
  await new Promise<void>((resolve) => void server.listen(socketPath, resolve));
  onTestFinished(() => void server.close());
  const lost: number[] = [];
  const tried: Promise<void>[] = [];
  const edges: { current?: { channels: Channels; watcher: Watcher } } = {};
  const booted: Booted = bootHome({
    home,
    clock: systemClock,
    observer,
    onOwnershipLost: (epoch) => lost.push(epoch),
    run: ({ context }, stamp, effect) => {
      const { sessionId: id } = stamp;
      edges.current ??= make(context);
      const { channels, watcher } = edges.current;
      if (effect.type === "connect") tried.push(channels.connect(id, effect.process));
      if (effect.type === "watch") watcher.watch(id, effect.process);
      if (effect.type === "signal") watcher.signal(stamp, effect.process, effect);
    },
  });
  const { registry } = booted.context;
  onTestFinished(async () => {
    registry.dispatch(sessionId, { type: "process_gone", generation: "g", how: "gone" });
    registry.close();
    await registry.drained();
  });
  const { channels } = (edges.current ??= make(booted.context));
  const sessions = new Sessions(booted.context, channels);
  /** Until the supervisor does no more to reach it. */
  const given = async (): Promise<void> => {
    await registry.drained();
    await Promise.all(tried);
  };
  return { booted, registry, table, lost, given, asked: () => asked, row: () => sessions.row(sessionId) };
}

function make(context: Booted["context"]): { channels: Channels; watcher: Watcher } {
  const watcher = new Watcher(context, { handleOf: () => null }, { collect: () => {} });
  return { watcher, channels: new Channels(context, { watcher, dial: (path) => connect(path), onReport: () => {} }) };
}

const usage = (): never => {
  throw new ProtocolError("usage", "invalid parameters: supervisor");
};

it.each([
  ["refuses the protocol", () => ({ kind: "refused", why: "protocol" }), /another protocol, this daemon 1/],
  ["says its own", () => ({ kind: "refused", why: "protocol", protocol: 2 }), /protocol 2, this daemon 1/],
  ["refuses for a later reason", () => ({ kind: "refused", why: "season" }), /does not know/],
  ["greets in a later form", () => ({ kind: "hello", phase: "dozing" }), /does not know/],
  ["takes other parameters", usage, /does not know/],
] as const)(
  "I26 a live worker that %s is asked once, stays listed with the reason and is stopped by its identity",
  async (_what, answer, reason) => {
    const { booted, registry, table, lost, given, asked, row } = await meet(answer);
    await given();
    expect(row()).toMatchObject({ state: "recovering", pid: PID, reason: expect.stringMatching(reason) });
    expect([asked(), lost, booted.effects.map(([, { type }]) => type)]).toEqual([1, [], ["connect", "watch"]]);
    registry.dispatch(sessionId, { type: "stop", intent: intentOf("stop") });
    await registry.drained();
    expect(table.delivered).toMatchObject([{ pid: PID, signal: "SIGTERM" }]);
    table.end(PID);
    expect(await registry.until(sessionId, (state) => state?.name === "finalizing", 5_000)).not.toBe("timeout");
  },
);

it("I26 what cannot be spoken to is recovered when it ends by itself, and not before", async () => {
  const { booted, registry, table, given } = await meet(() => ({ kind: "refused", why: "protocol", protocol: 2 }));
  await given();
  expect(registry.newest(sessionId)?.name).toBe("reconnecting");
  table.end(PID);
  await registry.until(sessionId, (state) => state?.name === "recovering", 5_000);
  expect(booted.effects.at(-1)?.[1]).toMatchObject({ type: "settle", process: { generation: "g" } });
});

it("I26 a program's worker that its record calls foreign is never spoken to", async () => {
  const { registry, table, given, asked, row } = await meet(() => ({}), null);
  await given();
  expect([asked(), row().reason]).toEqual([0, expect.stringContaining("older program")]);
  registry.dispatch(sessionId, { type: "stop", intent: intentOf("stop") });
  await registry.drained();
  expect(table.delivered).toMatchObject([{ pid: PID, signal: "SIGTERM" }]);
});

it("I165 the epoch that a worker names counts whatever protocol its record names", async () => {
  const { registry, lost, row } = await meet(() => ({ kind: "refused", why: "stale_epoch", epoch: 9 }), 2);
  await registry.drained();
  await new Promise<void>((resolve) => {
    const look = (): void => void (lost.length > 0 ? resolve() : setImmediate(look));
    look();
  });
  expect([lost[0], row().reason]).toEqual([9, expect.stringMatching(/protocol 2, this daemon 1/)]);
});
