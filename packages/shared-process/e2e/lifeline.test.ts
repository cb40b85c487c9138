import { statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createLifeline, holdLifeline, probeLifeline, spawnGated } from "../src/index.ts";
import { atEnd, baseEnv, temporaryDirectory } from "./harness.ts";

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
