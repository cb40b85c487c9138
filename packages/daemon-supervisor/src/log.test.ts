import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createLog } from "./log.ts";

it("I141 a log on a full disk costs its lines, not the daemon", () => {
  const home = mkdtempSync(join(tmpdir(), "log-"));
  try {
    mkdirSync(join(home, "logs"));
    symlinkSync("/dev/full", join(home, "logs", "supervisor.log"));
    const log = createLog(home, false);
    expect(() => {
      for (let line = 0; line < 100; line += 1) log.info({ line }, "x".repeat(1_000));
    }).not.toThrow();
  } finally {
    rmSync(home, { recursive: true });
  }
});
