import { setTimeout as pause } from "node:timers/promises";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ScriptedHome, hello, never } from "../test/scripted-server.ts";
import { createClient } from "./client.ts";
import type { Client, ClientOptions } from "./client.ts";
import { ProtocolError } from "./protocol/index.ts";

let daemon: ScriptedHome;
let client: Client | null = null;
const quick = { noticeMs: 30, silentMs: 200 };

beforeEach(() => {
  daemon = new ScriptedHome();
});
afterEach(async () => {
  client?.close();
  client = null;
  await daemon.remove();
});

function connect(options: Partial<ClientOptions> = {}): Client {
  client = createClient({ home: daemon.home, name: "test", timeouts: quick, ...options });
  return client;
}
const codeOf = async (promise: Promise<unknown>): Promise<string> => {
  const failure = await promise.then(
    () => null,
    (error: unknown) => error,
  );
  return failure instanceof ProtocolError ? failure.code : String(failure);
};
const cancel = { requestId: "r-1", session: "one" };

describe("a call", () => {
  it("finds the daemon through the highest valid owner record and answers with its result", async () => {
    daemon.record(1, { phase: "stopped" });
    await daemon.serve(2, () => ({ sessions: [] }));
    writeFileSync(join(daemon.home, "owner", "3.json"), "{torn");
    expect(await connect().call("session/list", {})).toEqual({ sessions: [] });
  });

  it("keeps one connection for calls side by side", async () => {
    await daemon.serve(1, () => ({ sessions: [] }));
    const both = connect();
    await Promise.all([both.call("session/list", {}), both.call("session/list", {})]);
    await both.call("session/list", {});
    expect(new Set(daemon.seen.slice(-2).map(({ connection }) => connection)).size).toBe(1);
  });

  it("may be one of many side by side, and Node has nothing to warn of", async () => {
    await daemon.serve(1, () => ({ sessions: [] }));
    const warnings: string[] = [];
    const note = ({ message }: Error): void => void warnings.push(message);
    process.on("warning", note);
    const many = connect({ timeouts: {} });
    await Promise.all(Array.from({ length: 32 }, () => many.call("session/list", {})));
    process.off("warning", note);
    expect(warnings).toEqual([]);
  });

  it("is sent again with the same request id when the connection is lost before the answer", async () => {
    await daemon.serve(1, ({ connection, socket }) => {
      if (connection > 1) return { sessionId: "one" };
      socket.destroy();
      return never();
    });
    expect(await connect().call("session/cancel", cancel)).toEqual({ sessionId: "one" });
    expect(daemon.seen.map(({ connection, params }) => [connection, params["requestId"]])).toEqual([
      [1, "r-1"],
      [2, "r-1"],
    ]);
  });

  it("passes the daemon's own error on, with its hint and data", async () => {
    await daemon.serve(1, () => {
      throw new ProtocolError("daemon_busy", "busy", { hint: "wait", data: { sessions: ["a"] } });
    });
    await expect(connect().call("daemon/status", {})).rejects.toMatchObject({
      code: "daemon_busy",
      hint: "wait",
      data: { sessions: ["a"] },
    });
  });

  it("asks the successor when the owner lost its home", async () => {
    await daemon.serve(1, ({ connection }) => {
      if (connection === 1) throw new ProtocolError("ownership_lost", "another epoch owns this home");
      return { sessionId: "one" };
    });
    expect(await connect().call("session/cancel", cancel)).toEqual({ sessionId: "one" });
  });

  it("I106 judges the same owner record anew at each look: one that was alive a moment ago may be gone", async () => {
    daemon.record(1, { phase: "serving", socketPath: join(daemon.home, "nobody.sock") });
    const verdicts = ["alive", "alive", "gone"] as const;
    let looks = 0;
    const calling = connect({
      timeouts: {},
      ownerAlive: () => verdicts[Math.min(looks++, 2)] ?? "gone",
      startDaemon: () => daemon.serve(2, () => ({ sessionId: "one" })),
    });
    expect(await calling.call("session/cancel", cancel)).toEqual({ sessionId: "one" });
    expect(looks).toBe(3);
  });

  it("ends with the signal's reason", async () => {
    await daemon.serve(1, never);
    const abort = new AbortController();
    const answer = connect().call("session/list", {}, { signal: abort.signal });
    abort.abort(new Error("enough"));
    await expect(answer).rejects.toThrow("enough");
  });

  it("I138 waits longer than the silence limit, without a word, for a daemon that still answers its status", async () => {
    const timeouts = { noticeMs: 250, silentMs: 500 };
    await daemon.serve(1, async ({ method }) => {
      if (method === "daemon/status") return {};
      // The time is the subject here: the daemon answers this later than the limit.
      await pause(2 * timeouts.silentMs);
      return { sessionId: "one" };
    });
    const notices: string[] = [];
    const patient = connect({ timeouts, onNotice: (text) => notices.push(text) });
    expect(await patient.call("session/cancel", cancel)).toEqual({ sessionId: "one" });
    // It answers others, so it is not called silent (I138).
    expect(notices).toEqual([]);
  });
});

describe("without a daemon", () => {
  it("a read fails at once and a mutation starts one, once for calls side by side", async () => {
    const starts: string[] = [];
    const ready = connect({
      startDaemon: async (why) => {
        starts.push(why);
        await daemon.serve(1, () => ({ sessionId: "one" }));
      },
    });
    expect(await codeOf(ready.call("session/list", {}))).toBe("daemon_not_running");
    await Promise.all([ready.call("session/cancel", cancel), ready.call("session/cancel", cancel)]);
    expect(starts).toEqual(["no daemon owns this home"]);
  });

  it("a mutation without a way to start one is daemon_not_running", async () => {
    daemon.record(1, { phase: "stopped" });
    expect(await codeOf(connect().call("session/cancel", cancel))).toBe("daemon_not_running");
  });

  it("I132 a mutation replaces an owner that is proven gone, also one that dies while it works", async () => {
    await daemon.serve(1, ({ socket }) => {
      void daemon.crash();
      socket.destroy();
      return never();
    });
    const starting = connect({
      ownerAlive: () => "gone",
      startDaemon: async () => {
        await daemon.serve(2, () => ({ sessionId: "one" }));
      },
    });
    expect(await starting.call("session/cancel", cancel)).toEqual({ sessionId: "one" });
    expect(daemon.seen.map(({ params }) => params["requestId"])).toEqual(["r-1", "r-1"]);
  });

  it("a start that takes long was told when it began: nobody hears afterwards that no daemon runs", async () => {
    const notices: string[] = [];
    const noticeMs = 20;
    const starting = connect({
      timeouts: { noticeMs, silentMs: 5_000 },
      onNotice: (text) => notices.push(text),
      startDaemon: async () => {
        await new Promise((resolve) => setTimeout(resolve, 2 * noticeMs));
        await daemon.serve(1, () => ({ sessionId: "one" }));
      },
    });
    expect(await starting.call("session/cancel", cancel)).toEqual({ sessionId: "one" });
    expect(notices.filter((text) => text.includes("no daemon runs"))).toEqual([]);
  });

  it("I147 the record of a copied home is not taken for its own daemon", async () => {
    const original = daemon;
    await original.serve(1, () => ({ sessions: [] }));
    daemon = new ScriptedHome();
    try {
      daemon.record(1, { home: original.home, socketPath: original.socketPath(1) });
      expect(await codeOf(connect().call("session/list", {}))).toBe("daemon_not_running");
    } finally {
      await original.remove();
    }
  });
});

describe("I138 a silent daemon", () => {
  const cases = {
    "whose process lives but has no socket": () => daemon.record(1),
    "that listens and sends no hello": () => daemon.serve(1, never, () => null),
    "that takes a request and answers nothing": () => daemon.serve(1, never),
    "that is starting": () => daemon.record(1, { phase: "starting", socketPath: null }),
  };
  for (const [name, arrange] of Object.entries(cases))
    it(`${name} is waited for, said once, and never replaced`, async () => {
      await arrange();
      const notices: string[] = [];
      let starts = 0;
      const waiting = connect({
        ownerAlive: () => "alive",
        onNotice: (text) => notices.push(text),
        startDaemon: async () => {
          starts += 1;
        },
      });
      expect(await codeOf(waiting.call("session/cancel", cancel))).toBe("daemon_not_responding");
      expect([notices.length, starts]).toEqual([1, 0]);
    });

  it("is served as soon as it binds its socket", async () => {
    daemon.record(1, { phase: "starting", socketPath: null });
    const notices: string[] = [];
    const answer = connect({
      timeouts: { noticeMs: 20, silentMs: 5_000 },
      onNotice: (text) => {
        notices.push(text);
        void daemon.serve(1, () => ({ sessions: [] }));
      },
    }).call("session/list", {});
    expect(await answer).toEqual({ sessions: [] });
    expect(notices).toHaveLength(1);
  });
});

describe("a hello", () => {
  it("of another protocol is version_mismatch and names the restart", async () => {
    await daemon.serve(1, never, () => ({ ...hello(daemon.home), protocol: { name: "holdfast", version: 99 } }));
    await expect(connect().call("session/list", {})).rejects.toMatchObject({
      code: "version_mismatch",
      hint: "agent daemon restart",
    });
  });

  it("of another build of the protocol is served, and said once", async () => {
    await daemon.serve(1, () => ({ sessions: [] }));
    const notices: string[] = [];
    const newer = connect({ version: "0.0.1", timeouts: {}, onNotice: (text) => notices.push(text) });
    expect(await newer.call("session/list", {})).toEqual({ sessions: [] });
    await newer.call("session/list", {});
    expect(notices).toEqual(["the daemon is of build 0.0.0, this program of 0.0.1: agent daemon restart"]);
    newer.close();
    const same = connect({ version: "0.0.0", timeouts: {}, onNotice: (text) => notices.push(text) });
    await same.call("session/list", {});
    expect(notices).toHaveLength(1);
  });

  it("I26 of a later schema is served: states, fields and codes that are not known pass, or count as their kind", async () => {
    const row = { sessionId: "s", state: "hibernating", depth: 4 };
    await daemon.serve(
      1,
      ({ method, peer }) => {
        if (method !== "session/cancel") return { sessions: [row], season: "late" };
        peer.notify("session/hibernated", { sessionId: "s" });
        throw Object.assign(new ProtocolError("internal", "it sleeps"), { code: "session_hibernating" });
      },
      () => ({ ...hello(daemon.home), schemaRevision: 99, capabilities: ["hibernation"], season: "late" }),
    );
    const older = connect();
    expect(await older.call("session/list", {})).toEqual({ sessions: [row], season: "late" });
    await expect(older.call("session/cancel", cancel)).rejects.toMatchObject({
      code: "internal",
      message: "it sleeps",
    });
    expect(await older.call("session/list", {})).toMatchObject({ sessions: [row] });
  });

  it("that is malformed is version_mismatch", async () => {
    await daemon.serve(1, never, () => ({ ...hello(daemon.home), epoch: "one" }));
    expect(await codeOf(connect().call("session/list", {}))).toBe("version_mismatch");
  });

  it("I116 that is not a frame at all is bounded silence", async () => {
    await daemon.serve(1, never, (socket) => {
      socket.end("what?\n");
      return null;
    });
    expect(await codeOf(connect().call("session/list", {}))).toBe("daemon_not_responding");
  });
});
