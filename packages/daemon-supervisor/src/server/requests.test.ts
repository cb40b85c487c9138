import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { digestOf, nodeFileSystem, quarantineJournal } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { createObserver, systemClock, systemIds } from "@holdfast/shared-process";
import { sessionDirectory } from "@holdfast/session-worker/transport";
import { pino } from "pino";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Catalog } from "../catalog.ts";
import { prepareHome } from "../home.ts";
import { withRequest } from "../records.ts";
import { Requests } from "./requests.ts";
import type { Answered, Order } from "./requests.ts";
import { makeSession, sessionRecordOf } from "../session-record.testing.ts";

const sessionId = "01a2aaaa-0000-7000-8000-000000000001";
const stop: Order = { method: "session/stop", requestId: "r", content: { session: "s" } };
let home: string;
let open: Requests[];

beforeEach(async () => {
  home = join(mkdtempSync(join(tmpdir(), "requests-")), "home");
  open = [];
  prepareHome(nodeFileSystem, home);
  await makeSession(home, sessionRecordOf(sessionId));
});
afterEach(async () => {
  for (const requests of open) await requests.close();
  rmSync(join(home, ".."), { recursive: true });
});

/** A supervisor's requests, and the home's sessions as that one reads them. */
function supervisor(
  fs: FileSystem = nodeFileSystem,
  journalFs: FileSystem = nodeFileSystem,
): { requests: Requests; catalog: Catalog } {
  const catalog = new Catalog(home, fs);
  const requests = new Requests(
    {
      catalog,
      records: catalog,
      home,
      fs: journalFs,
      ids: systemIds,
      self: createObserver({ mode: "narrow" }).self(),
      clock: systemClock,
      log: pino({ level: "silent" }),
    },
    () => true,
    { has: () => false },
  );
  open.push(requests);
  return { requests, catalog };
}

const answered = (state: string, final = true): Promise<Answered<object>> =>
  Promise.resolve({ answer: { sessionId, state }, final });
const never = (): never => {
  throw new Error("it must not take effect again");
};

it("I143 gives every repeat the first answer, side by side, later, and by a later supervisor", async () => {
  const { requests } = supervisor();
  let effects = 0;
  const work = (): Promise<Answered<object>> => answered(`stopped ${(effects += 1)}`);
  const both = await Promise.all([requests.once(stop, work), requests.once(stop, work)]);
  const again = await requests.once(stop, never);
  const later = await supervisor().requests.once(stop, never);
  expect([...both, again, later]).toEqual(Array.from({ length: 4 }, () => ({ sessionId, state: "stopped 1" })));
});

it("I143 refuses other content under a used id, also while the first runs", async () => {
  const { requests } = supervisor();
  const other = { ...stop, content: { session: "t" } };
  const first = requests.once(stop, () => answered("stopped"));
  await expect(requests.once(other, never)).rejects.toMatchObject({ code: "request_id_reused" });
  await first;
  await expect(requests.once(other, never)).rejects.toMatchObject({ code: "request_id_reused" });
  await expect(supervisor().requests.once(other, never)).rejects.toMatchObject({ code: "request_id_reused" });
});

it("I143 an effect that a crash left unanswered is answered by the successor, and not done again", async () => {
  const { requests, catalog } = supervisor();
  const crash = requests.once(stop, async (stamp) => {
    await catalog.update(sessionId, (record) => ({ ...withRequest(record, stamp), wanted: "stopped" }));
    throw new Error("killed before the answer");
  });
  await expect(crash).rejects.toThrow("killed");
  const seen: unknown[] = [];
  const successor = supervisor();
  const answer = await successor.requests.once(stop, (_stamp, repeated) => {
    seen.push(repeated);
    return answered("stopped");
  });
  expect([seen, answer]).toEqual([[{ sessionId }], { sessionId, state: "stopped" }]);
  // The journal has it now: the next write of the record lets it go.
  expect(successor.catalog.get(sessionId)?.recentRequests).toEqual([]);
});

it("I143 what took effect and failed afterwards is not done again by its repeat", async () => {
  const { requests, catalog } = supervisor();
  const late = requests.once(stop, async (stamp) => {
    await catalog.update(sessionId, (record) => withRequest(record, stamp));
    throw new Error("time over");
  });
  await expect(late).rejects.toThrow("time over");
  const repeats: unknown[] = [];
  await requests.once(stop, (_stamp, repeated) => {
    repeats.push(repeated);
    return answered("stopped");
  });
  expect(repeats).toEqual([{ sessionId }]);
});

it("an answer that is not final is asked for again, without a second effect", async () => {
  const { requests } = supervisor();
  await requests.once(stop, () => answered("stopping", false));
  const repeats: unknown[] = [];
  const answer = await requests.once(stop, (_stamp, repeated) => {
    repeats.push(repeated);
    return answered("stopped");
  });
  expect([repeats, answer]).toEqual([[{ sessionId }], { sessionId, state: "stopped" }]);
});

it("a request that was refused leaves nothing: its repeat is tried like the first", async () => {
  const { requests } = supervisor();
  const refused = requests.once(stop, () => Promise.reject(new Error("not now")));
  await expect(refused).rejects.toThrow("not now");
  expect(await requests.once(stop, () => answered("stopped"))).toEqual({ sessionId, state: "stopped" });
});

it("I71 I140 a damaged journal is kept beside a new one, which remembers what comes", async () => {
  const first = supervisor().requests;
  await first.once(stop, () => answered("stopped"));
  await first.close();
  const [segment = ""] = readdirSync(`${home}/journal`);
  const garbage = "not a journal\n".repeat(100);
  writeFileSync(`${home}/journal/${segment}`, garbage);
  const { requests } = supervisor();
  const other = { ...stop, requestId: "r2" };
  await requests.once(other, () => answered("ready"));
  await requests.close();
  expect(await supervisor().requests.once(other, never)).toEqual({ sessionId, state: "ready" });
  const [aside = ""] = readdirSync(home).filter((name) => name.startsWith("journal.damaged-"));
  expect(readFileSync(`${home}/${aside}/${segment}`, "utf8")).toBe(garbage);
});

it.each(["EMFILE", "EIO"])(
  "I71 I143 a journal that cannot be read for a moment is not taken for damaged: %s",
  async (errno) => {
    const first = supervisor().requests;
    await first.once(stop, () => answered("stopped"));
    await first.close();
    let isFailing = true;
    const failing: FileSystem = Object.create(nodeFileSystem, {
      open: {
        value: (...[path, ...rest]: Parameters<FileSystem["open"]>) => {
          if (!isFailing || !/e\d{8}\.jsonl$/.test(path)) return nodeFileSystem.open(path, ...rest);
          isFailing = false;
          throw Object.assign(new Error(errno), { code: errno });
        },
      },
    });
    const { requests } = supervisor(nodeFileSystem, failing);
    const rename = { ...stop, method: "session/rename" };
    await expect(requests.once(rename, never)).rejects.toMatchObject({ code: "journal_refused" });
    expect(await requests.once(stop, never)).toEqual({ sessionId, state: "stopped" });
    expect(readdirSync(home).filter((name) => name.startsWith("journal."))).toEqual([]);
  },
);

it("I71 I143 while the journal is in quarantine only a stop goes on, and all once that is resolved", async () => {
  const first = supervisor().requests;
  await first.once(stop, () => answered("stopped"));
  await first.close();
  const directory = `${home}/journal`;
  const path = join(directory, readdirSync(directory)[0] ?? "");
  writeFileSync(path, "not a journal\n".repeat(100));
  const options = {
    directory,
    owner: { generation: "doctor", identity: {} },
    kinds: [],
    probeOwner: () => "gone" as const,
  };
  const seen = { why: "corrupt" as const, path, sha256: digestOf(path) };
  expect(await quarantineJournal({ ...options, seen, reason: "damaged" })).toMatchObject({ kind: "quarantined" });
  const { requests } = supervisor();
  const rename = { ...stop, requestId: "r2", method: "session/rename" };
  await expect(requests.once(rename, never)).rejects.toMatchObject({
    code: "journal_refused",
    message: expect.stringContaining("is not resolved"),
  });
  expect(await requests.once(stop, () => answered("stopped again"))).toMatchObject({ state: "stopped again" });
  expect(await requests.resolveQuarantines({ decision: "none is asked for again" })).toBe(1);
  expect(await requests.resolveQuarantines({ decision: "none is asked for again" })).toBe(0);
  expect(await requests.once(rename, () => answered("ready"))).toMatchObject({ state: "ready" });
});

it("I143 where nothing can be looked up, what is not right in any case is refused, and a stop goes on", async () => {
  writeFileSync(`${home}/journal`, "");
  const { requests } = supervisor();
  await expect(requests.once({ ...stop, method: "session/rename" }, never)).rejects.toThrow();
  expect(await requests.once(stop, () => answered("stopped"))).toEqual({ sessionId, state: "stopped" });
});

it("I143 the id that created a session is used for nothing else", async () => {
  const { requests } = supervisor();
  await expect(requests.once({ ...stop, requestId: "new" }, never)).rejects.toMatchObject({
    code: "request_id_reused",
  });
});

it("I143 an answer counts although the record that names its request was not written since", async () => {
  const { requests, catalog } = supervisor();
  await requests.once(stop, async (stamp) => {
    await catalog.update(sessionId, (record) => withRequest(record, stamp));
    return await answered("stopped");
  });
  const successor = supervisor();
  expect(successor.catalog.get(sessionId)?.recentRequests).toHaveLength(1);
  expect(await successor.requests.once(stop, never)).toEqual({ sessionId, state: "stopped" });
});

it("I143 tells a repeat that it is done only when the effect of the first, which failed on its last step, is durable", async () => {
  let broken = true;
  let synced = 0;
  const fs: FileSystem = {
    ...nodeFileSystem,
    fsyncAsync: async (fd) => {
      const isFolder = nodeFileSystem.fstat(fd).ino === nodeFileSystem.lstat(sessionDirectory(home, sessionId)).ino;
      if (broken && isFolder) throw Object.assign(new Error("broken"), { code: "EIO" });
      if (isFolder) synced += 1;
      await nodeFileSystem.fsyncAsync(fd);
    },
  };
  const { requests, catalog } = supervisor(fs);
  const effect = async (stamp: { requestId: string; hash: string }): Promise<Answered<object>> => {
    await catalog.update(sessionId, (record) => ({ ...withRequest(record, stamp), wanted: "stopped" }));
    return answered("stopped");
  };
  await expect(requests.once(stop, effect)).rejects.toMatchObject({ code: "replaced_not_durable" });
  await expect(requests.once(stop, () => answered("stopped"))).rejects.toMatchObject({ code: "replaced_not_durable" });
  broken = false;
  await expect(supervisor(fs).requests.once(stop, () => answered("stopped"))).resolves.toMatchObject({
    state: "stopped",
  });
  expect(synced).toBe(1);
});

it("I75 a repeat that is refused does not let go of the request that runs", async () => {
  const { requests } = supervisor();
  let end!: () => void;
  const held = new Promise<void>((resolve) => (end = resolve));
  const first = requests.once(stop, () => held.then(() => answered("first")));
  const other = { ...stop, content: { session: "t" } };
  await expect(requests.once(other, never)).rejects.toMatchObject({ code: "request_id_reused" });
  const joined = requests.once(stop, never);
  end();
  expect(await Promise.all([first, joined])).toMatchObject([{ state: "first" }, { state: "first" }]);
});

it("I88 requests are begun side by side, however many: no limit or queue stands before them", async () => {
  const { requests } = supervisor();
  const MANY = 500;
  let begun = 0;
  let begin!: () => void;
  const all = new Promise<void>((resolve) => (begin = resolve));
  const asked = Array.from({ length: MANY }, (_, index) =>
    requests.once({ ...stop, requestId: `r${index}` }, async () => {
      begun += 1;
      if (begun === MANY) begin();
      await all;
      return { answer: { state: "done" }, final: false };
    }),
  );
  expect(await Promise.all(asked)).toHaveLength(MANY);
});

it("I143 I168 a full disk keeps a new supervisor from writing the journal, not from knowing what stands in it", async () => {
  const first = supervisor();
  await first.requests.once(stop, () => answered("stopped"));
  await first.requests.close();
  const full: FileSystem = {
    ...nodeFileSystem,
    write: () => {
      throw Object.assign(new Error("full"), { code: "ENOSPC" });
    },
  };
  const { requests } = supervisor(nodeFileSystem, full);
  expect(await requests.once(stop, never)).toEqual({ sessionId, state: "stopped" });
  expect(await requests.isUsed("r")).toBe(true);
  expect(await requests.isUsed("other")).toBe(false);
});
