import { afterEach, beforeEach, expect, it } from "vitest";
import { ScriptedHome, never } from "../test/scripted-server.ts";
import type { Asked } from "../test/scripted-server.ts";
import { createClient } from "./client.ts";
import type { Client } from "./client.ts";
import { ProtocolError } from "./protocol/index.ts";

let daemon: ScriptedHome;
let client: Client;

beforeEach(() => {
  daemon = new ScriptedHome();
  client = createClient({ home: daemon.home, name: "test", timeouts: { noticeMs: 50, silentMs: 1_000 } });
});
afterEach(async () => {
  client.close();
  await daemon.remove();
});

const output = (index: number, text = "x") => ({
  type: "output",
  stream: "stdout",
  text,
  cursor: `c${index}`,
  at: "2030-01-01T00:00:00.000Z",
  sessionId: "s-1",
});
const send = ({ peer }: Asked, from: number, to: number): void => {
  for (let index = from; index <= to; index++) peer.notify("session/event", output(index));
};
const collect = async (options: { from?: string; signal?: AbortSignal } = {}): Promise<string[]> => {
  const cursors: string[] = [];
  for await (const event of client.attach({ session: "one", follow: true, ...options })) cursors.push(event.cursor);
  return cursors;
};

it("resumes a lost connection from the last cursor, by the session's id, without duplicates or losses", async () => {
  await daemon.serve(1, (asked) => {
    setImmediate(() => {
      if (asked.connection === 1) {
        send(asked, 1, 3);
        asked.peer.end();
        return;
      }
      // The event at the cursor once more, as an inclusive replay would send it.
      send(asked, 3, 5);
      asked.peer.notify("session/attach_ended", { reason: "end" });
    });
    return { sessionId: "s-1" };
  });
  expect(await collect({ from: "c0" })).toEqual(["c1", "c2", "c3", "c4", "c5"]);
  expect(daemon.seen.map(({ params }) => [params["session"], params["from"]])).toEqual([
    ["one", "c0"],
    ["s-1", "c3"],
  ]);
});

it("I26 passes on events of types that are not known, and takes an unknown ending for one to attach after", async () => {
  await daemon.serve(1, (asked) => {
    const isFirst = asked.connection === 1;
    setImmediate(() => {
      if (isFirst) asked.peer.notify("session/event", { ...output(1), type: "hibernated", depth: 4 });
      asked.peer.notify("session/attach_ended", { reason: isFirst ? "hibernated" : "end" });
    });
    return { sessionId: "s-1" };
  });
  expect(await collect()).toEqual(["c1"]);
  expect(daemon.connections).toBe(2);
});

it("attaches again when the daemon says reattach", async () => {
  await daemon.serve(1, (asked) => {
    const first = asked.connection === 1;
    setImmediate(() => {
      send(asked, first ? 1 : 2, first ? 1 : 2);
      asked.peer.notify("session/attach_ended", { reason: first ? "reattach" : "end" });
    });
    return { sessionId: "s-1" };
  });
  expect(await collect()).toEqual(["c1", "c2"]);
});

it("waits for a successor of a daemon that went away", async () => {
  await daemon.serve(1, (asked) => {
    setImmediate(() => {
      send(asked, 1, 1);
      asked.peer.end();
      void daemon.crash().then(() =>
        daemon.serve(2, (next) => {
          setImmediate(() => {
            send(next, 2, 2);
            next.peer.notify("session/attach_ended", { reason: "end" });
          });
          return { sessionId: "s-1" };
        }),
      );
    });
    return { sessionId: "s-1" };
  });
  expect(await collect()).toEqual(["c1", "c2"]);
});

/** One event, then the daemon is stopped on purpose. */
async function servedAndStopped(then: () => Promise<void>): Promise<void> {
  await daemon.serve(1, (asked) => {
    setImmediate(() => {
      send(asked, 1, 1);
      daemon.record(1, { phase: "stopped" });
      asked.peer.end();
      void daemon.crash().then(then);
    });
    return { sessionId: "s-1" };
  });
}

it("ends soon after a daemon that was stopped and has no successor, not only when its patience ends", async () => {
  client.close();
  client = createClient({ home: daemon.home, name: "test", timeouts: { noticeMs: 50, silentMs: 600_000 } });
  await servedAndStopped(async () => {});
  await expect(collect()).rejects.toMatchObject({ code: "daemon_not_running" });
});

it("waits for the successor of a daemon that was stopped, as a restart does", async () => {
  client.close();
  client = createClient({ home: daemon.home, name: "test", timeouts: { noticeMs: 20_000, silentMs: 600_000 } });
  await servedAndStopped(async () => {
    await daemon.serve(2, (next) => {
      setImmediate(() => {
        send(next, 2, 2);
        next.peer.notify("session/attach_ended", { reason: "end" });
      });
      return { sessionId: "s-1" };
    });
  });
  expect(await collect()).toEqual(["c1", "c2"]);
});

it("passes a refusal on", async () => {
  await daemon.serve(1, () => {
    throw new ProtocolError("session_not_found", "no session one");
  });
  await expect(collect()).rejects.toMatchObject({ code: "session_not_found" });
});

it("passes on at once that a cursor is none, and does not ask again", async () => {
  await daemon.serve(1, () => {
    throw new ProtocolError("usage", "not a cursor: bogus");
  });
  await expect(collect({ from: "bogus" })).rejects.toMatchObject({ code: "usage", message: "not a cursor: bogus" });
  expect(daemon.seen).toHaveLength(1);
});

it("ends with the signal's reason while it follows", async () => {
  const abort = new AbortController();
  await daemon.serve(1, () => {
    setImmediate(() => abort.abort(new Error("left")));
    return { sessionId: "s-1" };
  });
  await expect(collect({ signal: abort.signal })).rejects.toThrow("left");
});

it("does not start a daemon, and fails when none was ever there", async () => {
  await expect(collect()).rejects.toMatchObject({ code: "daemon_not_running" });
});

it("reads the socket only as fast as events are taken", async () => {
  const text = "y".repeat(64 * 1024);
  const total = 400;
  let sent = 0;
  await daemon.serve(1, ({ peer }) => {
    const push = async (): Promise<void> => {
      while (sent < total) {
        sent += 1;
        peer.notify("session/event", output(sent, text));
        await peer.drained();
      }
      peer.notify("session/attach_ended", { reason: "end" });
    };
    setImmediate(() => void push());
    return { sessionId: "s-1" };
  });
  const events = client.attach({ session: "one", follow: true });
  await events.next();
  // The sender has stalled when nothing more leaves for a while of turns.
  let before = -1;
  for (let quiet = 0; quiet < 50; before = sent) {
    await new Promise((resolve) => setTimeout(resolve, 2));
    quiet = sent === before ? quiet + 1 : 0;
  }
  expect(sent).toBeLessThan(total);
  let taken = 1;
  for await (const event of events) taken += event.type === "output" ? 1 : 0;
  expect(taken).toBe(total);
});

it("a request that never answers is bounded", async () => {
  await daemon.serve(1, never);
  await expect(collect()).rejects.toMatchObject({ code: "daemon_not_responding" });
});
