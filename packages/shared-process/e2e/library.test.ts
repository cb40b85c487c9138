import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { fixture, linesOf, start, temporaryDirectory } from "./harness.ts";

const dist = fileURLToPath(new URL("../dist", import.meta.url));

/** The built package alone, where no koffi can be found. */
function withoutKoffi(): string {
  const directory = temporaryDirectory();
  cpSync(dist, join(directory, "dist"), { recursive: true });
  writeFileSync(join(directory, "package.json"), '{"type":"module"}');
  return join(directory, "dist");
}

async function reportOf(...args: readonly string[]): Promise<unknown> {
  const { value } = await linesOf(await start(process.execPath, args)).next();
  return JSON.parse(String(value));
}

describe("koffi", () => {
  it.each([
    ["at-first-use", { looked: true, launched: true, signalled: true }],
    ["for-signals", { looked: false, launched: false, signalled: true }],
    ["never", { looked: false, launched: false, signalled: false }],
  ])("is not loaded by importing the package or by making an observer: %s", async (library, later) => {
    expect(await reportOf(fixture("loading.mjs"), library)).toEqual({ imported: false, created: false, ...later });
  });
});

describe("without koffi", () => {
  const weak = {
    verdict: { kind: "current", basis: "start-time" },
    held: { kind: "current", basis: "handle" },
    signal: { kind: "sent", via: "narrow-window" },
    after: { kind: "gone", why: "no-such-pid" },
    status: null,
    isMapped: false,
  };
  const capabilities = {
    backend: "linux-narrow",
    kernelIds: false,
    boundSignals: false,
    boundGroupSignals: false,
    exits: "polling",
    exitStatus: false,
    peers: false,
  };

  it("everything works as well as it can, and says why it is no better", async () => {
    const index = pathToFileURL(join(withoutKoffi(), "index.js")).href;
    expect(await reportOf(fixture("degraded.mjs"), index)).toEqual({
      ...weak,
      capabilities: { ...capabilities, reason: "koffi cannot be loaded: Cannot find module 'koffi'" },
    });
  });

  it("a worker thread is content, and says so", async () => {
    const index = pathToFileURL(join(dist, "index.js")).href;
    expect(await reportOf(fixture("degraded.mjs"), index, "worker")).toEqual({
      ...weak,
      capabilities: { ...capabilities, reason: "a worker thread does not load koffi" },
    });
  });
});
