import { safeParse } from "zod/mini";
import { errnoOf, reasonOf } from "@holdfast/shared-process";
import type { ProcessObserver } from "@holdfast/shared-process";
import { identitySchema } from "@holdfast/client/protocol";
import { readBounded } from "@holdfast/recovery-journal";
import type { FileSystem, JournalOwner } from "@holdfast/recovery-journal";
import type { StartParams, StartResult, WorkerOrders } from "../transport/messages.ts";
import { isRecordedSupervisor, MARKER_NAME } from "../transport/recorded-supervisor.ts";
import { sessionDirectory, sessionRecordPath, sessionRecordSchema } from "../transport/session-record.ts";
import type { SessionRecord } from "../transport/session-record.ts";
import type { SessionStore } from "../transport/store-contract.ts";
import { lastDirectory } from "../transport/store-recovery.ts";
import { openSessionStore } from "../transport/open-store.ts";
import { transcriptAt } from "../transport/transcript-file.ts";
import { mayPass } from "../transport/admission.ts";
import { Session } from "./session.ts";
import type { WorkerWorld } from "./world.ts";

/** Above what the supervisor writes. */
const MAX_RECORD_BYTES = 1024 * 1024;

type Failed = Extract<StartResult, { kind: "failed" }>;
export type Launched = { readonly kind: "launched"; readonly session: Session; readonly store: SessionStore };

export interface LaunchOptions {
  readonly world: WorkerWorld;
  readonly orders: WorkerOrders;
  readonly params: StartParams;
  readonly onChange: () => void;
}

/** Opens the session's files, settles what a crash left, and starts the agent. On a failure everything is closed again. */
export async function launchSession(options: LaunchOptions): Promise<Launched | Failed> {
  const record = readRecord(options.world.fs, options.orders);
  if (typeof record === "string") return terminal(record);
  if (record.agent !== "shell") return terminal(`there is no agent ${record.agent}`);
  let store: SessionStore;
  try {
    const opened = await openStore(options);
    if (opened.kind === "owned") return terminal("another process writes this session's files");
    if (opened.kind === "refused") return { kind: "failed", terminal: !opened.mayPass, reason: opened.reason };
    ({ store } = opened);
  } catch (error) {
    return { kind: "failed", terminal: !mayPass(error), reason: reasonOf(error) };
  }
  try {
    return await startAgent(options, store, record.cwd);
  } catch (error) {
    await store.close();
    return { kind: "failed", terminal: false, reason: reasonOf(error) };
  }
}

async function startAgent(options: LaunchOptions, store: SessionStore, directory: string): Promise<Launched | Failed> {
  const { orders, params, world, onChange } = options;
  const { clock, ids, observer } = world;
  await store.settleInterrupted();
  const environment = { ...params.environment, [MARKER_NAME]: orders.marker };
  const session = new Session({
    store,
    clock,
    onChange,
    createAgent: (host) =>
      world.agentOf({ environment, directory, host, clock, ids, observer, spare: isRecordedSupervisor }),
  });
  const from = params.restored
    ? lastDirectory(transcriptAt(store.transcriptPath, world.fs), store.transcriptSize)
    : null;
  const started = await session.agent.start({ restored: params.restored, lastDirectory: from });
  if (started.kind === "failed") {
    await store.close();
    return started;
  }
  await store.sync();
  session.restoreActions();
  return { kind: "launched", session, store };
}

function openStore({ orders, world }: LaunchOptions): ReturnType<typeof openSessionStore> {
  const { observer, ids, clock, fs } = world;
  return openSessionStore({
    directory: sessionDirectory(orders.home, orders.sessionId),
    sessionId: orders.sessionId,
    owner: { generation: orders.generation, identity: { ...observer.self() } },
    probeOwner: (owner) => probe(observer, owner),
    engine: "inline",
    fs,
    ids,
    clock,
  });
}

function probe(observer: ProcessObserver, { identity }: JournalOwner): "gone" | "current" | "unknown" {
  const parsed = safeParse(identitySchema, identity);
  if (!parsed.success) return "unknown";
  const { kind } = observer.verdict(parsed.data);
  return kind === "replaced" ? "gone" : kind;
}

/** A text says why it cannot be used. */
function readRecord(fs: FileSystem, { home, sessionId }: WorkerOrders): SessionRecord | string {
  try {
    const read = readBounded(fs, sessionRecordPath(home, sessionId), MAX_RECORD_BYTES);
    if (read.kind === "unreadable") return `session.json cannot be read: ${read.errno}`;
    if (read.kind !== "read") return `session.json is ${read.kind}`;
    const parsed = safeParse(sessionRecordSchema, JSON.parse(Buffer.from(read.bytes).toString("utf8")));
    return parsed.success ? parsed.data : "session.json is damaged";
  } catch (error) {
    return `session.json cannot be read: ${errnoOf(error) ?? reasonOf(error)}`;
  }
}

const terminal = (reason: string): Failed => ({ kind: "failed", terminal: true, reason });
