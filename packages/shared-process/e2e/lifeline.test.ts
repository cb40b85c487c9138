import { closeSync, constants, openSync, readdirSync, readlinkSync, statSync, writeFileSync, writeSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  createLifeline,
  holdLifeline,
  type OwnedProcess,
  probeLifeline,
  spawnGated,
  watchLifeline,
} from "../src/index.ts";
import { atEnd, baseEnv, eventually, firstLine, start, temporaryDirectory } from "./harness.ts";

async function madeLifeline(): Promise<string> {
  const path = join(temporaryDirectory(), "lifeline");
  await createLifeline(path);
  return path;
}

/** Held by a program of its own, which is killed in the end. */
async function holderOf(path: string): Promise<OwnedProcess> {
  const holder = await start("sh", ["-c", 'exec 3<>"$0"; echo ready; read -r _', path]);
  expect(await firstLine(holder)).toBe("ready");
  return holder;
}

/** How often the release was told. */
function watch(path: string): { readonly count: () => number; readonly stop: () => void } {
  let count = 0;
  const watching = watchLifeline(path, () => void (count += 1));
  if (watching === null) throw new Error("it cannot be watched");
  const stop = (): void => watching[Symbol.dispose]();
  atEnd(stop);
  return { count: () => count, stop };
}

/** How many descriptors of this process are open on that path. */
const openOn = (path: string): number => readdirSync("/proc/self/fd").filter((fd) => linkOf(fd) === path).length;

function linkOf(fd: string): string | null {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    // The listing's own descriptor is closed by now.
    return null;
  }
}

const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

describe("watching a lifeline", () => {
  it("tells the end of the last holder as an event, once to each who watches", async () => {
    const path = await madeLifeline();
    const [first, second] = [await holderOf(path), await holderOf(path)];
    const watches = Array.from({ length: 20 }, () => watch(path));
    const counts = (): number[] => watches.map(({ count }) => count());
    await first.signal("SIGKILL");
    await first.exited;
    await nextTurn();
    expect(new Set(counts())).toEqual(new Set([0]));
    await second.signal("SIGKILL");
    await eventually(() => counts().every((count) => count > 0), "all are told");
    await nextTurn();
    expect(new Set(counts())).toEqual(new Set([1]));
  });

  it("holds nothing: with many watchers a probe still says released", async () => {
    const path = await madeLifeline();
    const lifeline = holdLifeline(path);
    const watches = Array.from({ length: 20 }, () => watch(path));
    expect(probeLifeline(path)).toBe("held");
    lifeline[Symbol.dispose]();
    expect(probeLifeline(path)).toBe("released");
    await eventually(() => watches.every(({ count }) => count() === 1), "all are told");
    expect(probeLifeline(path)).toBe("released");
  });

  it("tells at once, but not in the same call, of one that nobody holds, be it never or no more", async () => {
    const path = await madeLifeline();
    const never = watch(path);
    expect(never.count()).toBe(0);
    await nextTurn();
    expect(never.count()).toBe(1);
    holdLifeline(path)[Symbol.dispose]();
    const after = watch(path);
    const stopped = watch(path);
    stopped.stop();
    await nextTurn();
    expect([never.count(), after.count(), stopped.count()]).toEqual([1, 1, 0]);
  });

  it("tells nothing after it was stopped, and leaves no descriptor open", async () => {
    const path = await madeLifeline();
    const lifeline = holdLifeline(path);
    const watches = Array.from({ length: 20 }, () => watch(path));
    expect(openOn(path)).toBe(1 + 20);
    for (const { stop } of watches) stop();
    await eventually(() => openOn(path) === 1, "all are closed");
    lifeline[Symbol.dispose]();
    await nextTurn();
    expect(new Set(watches.map(({ count }) => count()))).toEqual(new Set([0]));
  });

  it("is impossible where there is no FIFO", async () => {
    const directory = temporaryDirectory();
    const file = join(directory, "file");
    writeFileSync(file, "");
    const watched = [join(directory, "missing"), file, directory].map((path) => watchLifeline(path, () => {}));
    expect(watched).toEqual([null, null, null]);
    expect([file, directory].map(openOn)).toEqual([0, 0]);
  });
});

describe("lifelines", () => {
  it("are held from the first to the last holder and private whatever the umask is", async () => {
    const path = join(temporaryDirectory(), "lifeline");
    const umask = process.umask(0o777);
    atEnd(() => void process.umask(umask));
    await createLifeline(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(probeLifeline(path)).toBe("released");
    const lifeline = holdLifeline(path);
    const second = holdLifeline(path);
    expect(probeLifeline(path)).toBe("held");
    lifeline[Symbol.dispose]();
    lifeline[Symbol.dispose]();
    expect(probeLifeline(path)).toBe("held");
    second[Symbol.dispose]();
    expect(probeLifeline(path)).toBe("released");
  });

  it("are held by a child from birth, also while it is frozen, and released by SIGKILL", async () => {
    const path = join(temporaryDirectory(), "lifeline");
    await createLifeline(path);
    const lifeline = holdLifeline(path);
    const launched = await spawnGated({
      command: "sleep",
      args: ["100"],
      env: baseEnv,
      cwd: "/",
      standardError: "ignore",
      lifelineFd: lifeline.fd,
    });
    lifeline[Symbol.dispose]();
    if (launched.kind === "failed") throw new Error(launched.message);
    const { process: child } = launched;
    atEnd(() => child.discard());
    expect(probeLifeline(path)).toBe("held");
    await child.signal("SIGSTOP");
    expect(probeLifeline(path)).toBe("held");
    await child.signal("SIGKILL");
    await child.exited;
    expect(probeLifeline(path)).toBe("released");
  });

  it("prove nothing where there is no FIFO: no file, a file, a directory, a socket", async () => {
    const directory = temporaryDirectory();
    const file = join(directory, "file");
    writeFileSync(file, "");
    const socket = join(directory, "socket");
    const server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(socket, resolve);
    });
    atEnd(() => void server.close());
    const states = [join(directory, "missing"), file, directory, socket].map(probeLifeline);
    expect(states).toEqual(["unknown", "unknown", "unknown", "unknown"]);
    expect(() => holdLifeline(file)).toThrow(expect.objectContaining({ code: "lifeline_unavailable" }));
    expect(() => holdLifeline(join(directory, "missing"))).toThrow(
      expect.objectContaining({ code: "lifeline_unavailable" }),
    );
    await expect(createLifeline(file)).rejects.toMatchObject({ code: "lifeline_exists" });
    await expect(createLifeline(join(directory, "no/lifeline"))).rejects.toMatchObject({
      code: "lifeline_unavailable",
    });
  });

  it("I16 is released after its last holder's end, whatever the holders have written", async () => {
    const path = await madeLifeline();
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    atEnd(() => closeSync(reader));
    const holder = holdLifeline(path);
    writeSync(holder.fd, Buffer.alloc(60_000));
    expect(probeLifeline(path)).toBe("held");
    writeSync(holder.fd, Buffer.alloc(60_000));
    holder[Symbol.dispose]();
    expect(probeLifeline(path)).toBe("released");
  });

  it.each([
    ["too long a name", "x".repeat(300)],
    ["a file in place of a directory", "file/lifeline"],
    ["a NUL", "a\0b"],
  ])("say with their own code that none can be made of %s", async (_title, name) => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, "file"), "");
    const path = `${directory}/${name}`;
    await expect(createLifeline(path)).rejects.toMatchObject({ code: "lifeline_unavailable" });
  });

  it("say so when the system has no mkfifo", async () => {
    const directory = temporaryDirectory();
    const path = process.env["PATH"];
    process.env["PATH"] = directory;
    atEnd(() => {
      process.env["PATH"] = path;
    });
    await expect(createLifeline(join(directory, "lifeline"))).rejects.toMatchObject({
      code: "lifeline_unavailable",
      message: "The program mkfifo was not found",
    });
  });
});
