import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  createObserver,
  type GatedProcess,
  type ProcessIdentity,
  type SignalOutcome,
  scanMarked,
  spawnGated,
  spawnOwned,
  systemIds,
} from "../src/index.ts";
import { launch } from "../src/spawn/launch.ts";
import { FakeProcessTable } from "../src/testing/index.ts";
import { atEnd, baseEnv, eventually, firstLine, fixture, observer, start, temporaryDirectory } from "./harness.ts";

const gatedOptions = (wordFile: string): Parameters<typeof spawnGated>[0] => ({
  command: process.execPath,
  args: [fixture("gated.mjs"), wordFile],
  env: baseEnv,
  cwd: "/",
  standardError: "ignore",
});

async function gated(options: Parameters<typeof spawnGated>[0]): Promise<GatedProcess> {
  const launched = await spawnGated(options);
  if (launched.kind === "failed") throw new Error(launched.message);
  atEnd(() => launched.process.discard());
  return launched.process;
}

const read = async (stream: AsyncIterable<unknown> | undefined): Promise<string> => {
  let text = "";
  for await (const chunk of stream ?? []) text += String(chunk);
  return text;
};

const outcomeOf = async (command: string, cwd: string, args: string[] = []): Promise<string> => {
  const launched = await spawnOwned({ command, args, env: baseEnv, cwd });
  return launched.kind === "failed" ? launched.code : launched.kind;
};

describe("spawnGated", () => {
  it("lets the child run with the word it is given, once", async () => {
    const wordFile = join(temporaryDirectory(), "word");
    const child = await gated(gatedOptions(wordFile));
    expect(observer.verdict(child.identity).kind).toBe("current");
    child.openGate('{"epoch":1,"name":"größe"}');
    await eventually(() => existsSync(wordFile) && readFileSync(wordFile, "utf8") !== "", "the word arrived");
    expect(readFileSync(wordFile, "utf8")).toBe('{"epoch":1,"name":"größe"}');
    expect(() => child.openGate("again")).toThrow(expect.objectContaining({ code: "gate_used" }));
    expect(await child.signal("SIGTERM")).toEqual({ kind: "sent", via: "unreaped-child" });
    expect((await child.exited).status).toEqual({ signal: "SIGTERM" });
    expect((await child.signal("SIGTERM")).kind).toBe("not-sent");
  });

  it("refuses a word of two lines, of which half could arrive", async () => {
    const child = await gated(gatedOptions("/dev/null"));
    expect(() => child.openGate("a\nb")).toThrow(expect.objectContaining({ code: "invariant_broken" }));
  });

  it("ends by itself when it is discarded unopened", async () => {
    // A shell, since on a busy machine Node may not have begun to look at its gate within the grace of a second.
    const args = ["-c", "read -r word <&3 || exit 7"];
    const child = await gated({ ...gatedOptions(""), command: "sh", args });
    await child.discard();
    expect((await child.exited).status).toEqual({ code: 7 });
  });

  it("refuses a message that is too long before anything of it is written, and takes one that just fits", async () => {
    const limit = 4 * 1024 * 1024 - 1;
    const wordFile = join(temporaryDirectory(), "word");
    const child = await gated(gatedOptions(wordFile));
    const tooLong = expect.objectContaining({ code: "gate_message_too_long" });
    expect(() => child.openGate("x".repeat(limit + 1))).toThrow(tooLong);
    expect(() => child.openGate("é".repeat(limit / 2 + 1))).toThrow(tooLong);
    child.openGate("x".repeat(limit));
    await eventually(() => existsSync(wordFile) && statSync(wordFile).size === limit, "the whole message arrived");
    await child.signal("SIGTERM");
    await child.exited;
  });

  it("is killed after a second when it is discarded and does not look at its gate", async () => {
    const child = await gated({ ...gatedOptions(""), command: "sleep", args: ["100"] });
    const began = performance.now();
    await child.discard();
    expect((await child.exited).status).toEqual({ signal: "SIGKILL" });
    expect(performance.now() - began).toBeGreaterThan(900);
  });

  it("I61 ends without a word when its parent crashes before the gate is open", async () => {
    const wordFile = join(temporaryDirectory(), "word");
    const parent = await start(process.execPath, [fixture("gated-parent.mjs"), "crash", wordFile]);
    const identity: ProcessIdentity = JSON.parse(await firstLine(parent));
    expect((await parent.exited).status).toEqual({ signal: "SIGKILL" });
    await eventually(() => observer.verdict(identity).kind === "gone", "the gated child has ended");
    expect(existsSync(wordFile)).toBe(false);
  });

  it("I61 fails, and leaves nothing behind, when the child's identity cannot be read", async () => {
    const marker = { name: "HOLDFAST_SESSION", value: systemIds.newToken() };
    const env = { ...baseEnv, HOLDFAST_SESSION: marker.value };
    // A table that knows no process but its own: reading the new child fails.
    const blind = createObserver({ ports: new FakeProcessTable() });
    const options = { command: "sleep", args: ["100"], env, cwd: "/", observer: blind };
    const launched = launch(options, ["ignore", "ignore", "ignore", "pipe"]);
    expect(scanMarked(marker).processes).toHaveLength(1);
    expect(await launched).toMatchObject({ kind: "failed", code: "identity_unreadable" });
    await eventually(() => scanMarked(marker).processes.length === 0, "the child has ended");
  });

  it("I155 says that descriptors are used up, and leaves nothing behind, when none is left to hold the child", async () => {
    const marker = { name: "HOLDFAST_SESSION", value: systemIds.newToken() };
    const env = { ...baseEnv, HOLDFAST_SESSION: marker.value };
    const table = new FakeProcessTable();
    const pidfds = table.pidfds();
    pidfds.openFails = "EMFILE";
    const options = {
      command: "sleep",
      args: ["100"],
      env,
      cwd: "/",
      observer: createObserver({ ports: table, pidfds }),
    };
    const launched = await launch(options, ["ignore", "ignore", "ignore", "pipe"]);
    expect(launched).toMatchObject({ kind: "failed", code: "too_many_open_files" });
    await eventually(() => scanMarked(marker).processes.length === 0, "the child has ended");
  });

  it("lets its parent end without waiting, and lives on in a session of its own", async () => {
    const wordFile = join(temporaryDirectory(), "word");
    const parent = await start(process.execPath, [fixture("gated-parent.mjs"), "leave", wordFile]);
    const identity: ProcessIdentity = JSON.parse(await firstLine(parent));
    atEnd(() => void observer.signal(identity, "SIGKILL"));
    expect((await parent.exited).status).toEqual({ code: 0 });
    await eventually(() => existsSync(wordFile), "the word arrived");
    expect(observer.verdict(identity).kind).toBe("current");
  });
});

describe("the handle of a child", () => {
  it.each(["at-first-use", "never"] as const)(
    "answers as the child itself does, also after its end: %s",
    async (library) => {
      const options = {
        command: "sleep",
        args: ["100"],
        env: baseEnv,
        cwd: "/",
        observer: createObserver({ library }),
      };
      const launched = await spawnOwned(options);
      if (launched.kind === "failed") throw new Error(launched.message);
      const child = launched.process;
      expect(await child.signal("SIGCONT")).toEqual({ kind: "sent", via: "unreaped-child" });
      const via = library === "never" ? "unreaped-child" : "pidfd";
      expect(child.handle.signal("SIGTERM")).toEqual({ kind: "sent", via });
      expect((await child.exited).status).toEqual({ signal: "SIGTERM" });
      const gone = { kind: "gone", why: "no-such-pid" };
      expect(child.handle.verdict()).toEqual(gone);
      expect(child.handle.signal("SIGTERM")).toEqual({ kind: "not-sent", verdict: gone });
      expect(await child.signal("SIGTERM")).toEqual({ kind: "not-sent", verdict: gone });
    },
  );
});

describe("spawnOwned", () => {
  it("talks through its standard streams and more pipes, and tells its exit", async () => {
    const launched = await spawnOwned({
      command: "sh",
      args: ["-c", 'read a; echo "out $a"; echo "err $a" >&2; read b <&3; echo "four $b" >&4; exit 5'],
      env: baseEnv,
      cwd: "/",
      extraPipes: 2,
    });
    if (launched.kind === "failed") throw new Error(launched.message);
    const { process: child } = launched;
    const exits: unknown[] = [];
    child.onExit((exit) => exits.push(exit.status));
    child.onExit(() => exits.push("disposed"))[Symbol.dispose]();
    child.stdin.write("one\n");
    child.pipes[0]?.write("two\n");
    const texts = await Promise.all([read(child.stdout), read(child.stderr), read(child.pipes[1])]);
    expect(texts).toEqual(["out one\n", "err one\n", "four two\n"]);
    expect((await child.exited).status).toEqual({ code: 5 });
    const late = new Promise((resolve) => {
      child.onExit((exit) => resolve(exit.status));
    });
    expect(await late).toEqual({ code: 5 });
    expect(exits).toEqual([{ code: 5 }]);
  });

  it("I97 signals its whole group while the leader is not reaped, and nobody after", async () => {
    const leader = await start("sh", ["-c", "sleep 100 & echo $!; wait"]);
    const member = observer.identify(Number(await firstLine(leader)));
    if (member.kind !== "identified") throw new Error("the member is not there");
    expect(await leader.signalGroup("SIGTERM")).toEqual({ kind: "sent", via: "unreaped-child" });
    await leader.exited;
    await eventually(() => observer.verdict(member.identity).kind === "gone", "the member has ended");
    expect((await leader.signalGroup("SIGKILL")).kind).toBe("not-sent");
  });

  it("I89 sends nothing from one child's exit callback to another that was reaped in the same batch", async () => {
    const [one, other] = [await start("sleep", ["100"]), await start("sleep", ["100"])];
    const outcomes = Promise.all([
      new Promise<SignalOutcome>((resolve) => {
        one.onExit(() => resolve(other.signal("SIGKILL")));
      }),
      new Promise<SignalOutcome>((resolve) => {
        other.onExit(() => resolve(one.signal("SIGKILL")));
      }),
    ]);
    for (const child of [one, other]) observer.signal(child.identity, "SIGTERM");
    // In this turn nothing is reaped, so both wait as zombies and the event loop finds them together.
    while ([one, other].some((child) => observer.verdict(child.identity).kind === "current"));
    expect((await outcomes).map((outcome) => outcome.kind)).toEqual(["not-sent", "not-sent"]);
  });

  it("captures a program that ends at once, as it does with any other", async () => {
    const children = await Promise.all(Array.from({ length: 10 }, () => start("true", [])));
    const statuses = await Promise.all(children.map(async (child) => (await child.exited).status));
    expect(statuses).toEqual(children.map(() => ({ code: 0 })));
  });

  it("survives that its program closes stdin", async () => {
    const child = await start("sh", ["-c", "exec <&-; echo closed; sleep 0.1"]);
    expect(await firstLine(child)).toBe("closed");
    child.stdin.write("x".repeat(100_000));
    expect((await child.exited).status).toEqual({ code: 0 });
  });

  it("tells apart why a program cannot start", async () => {
    const directory = temporaryDirectory();
    const plain = join(directory, "plain");
    writeFileSync(plain, "", { mode: 0o600 });
    expect(await outcomeOf("holdfast-no-such-program", "/")).toBe("command_not_found");
    expect(await outcomeOf("true", join(directory, "missing"))).toBe("spawn_failed");
    expect(await outcomeOf(plain, "/")).toBe("permission_denied");
    expect(await outcomeOf("true", "/", ["x".repeat(4_000_000)])).toBe("spawn_failed");
  });

  it.each([
    // One descriptor is kept in reserve for a look, and with the kernel's own id no file has to be read.
    ["at-first-use", "asked before", { kind: "current", basis: "kernel-id" }, "linux-pidfd", "linux-pidfd"],
    ["at-first-use", "asked late", { kind: "unknown", why: "boot-unreadable" }, "linux-narrow", "linux-pidfd"],
    ["never", "asked before", { kind: "unknown", why: "descriptors-exhausted" }, "linux-narrow", "linux-narrow"],
  ])("I155 says that descriptors are used up, and recovers: %s, %s", (library, when, during, backend, recovered) => {
    const args = ["--nofile=64:64", process.execPath, fixture("no-descriptors.mjs"), library, when];
    const run = spawnSync("prlimit", args, { env: baseEnv, encoding: "utf8" });
    expect(run.stderr).toBe("");
    expect(JSON.parse(run.stdout)).toMatchObject({
      gated: { kind: "failed", code: "too_many_open_files" },
      owned: { kind: "failed", code: "too_many_open_files" },
      during,
      backend,
      after: { verdict: "current", backend: recovered },
    });
  });
});
