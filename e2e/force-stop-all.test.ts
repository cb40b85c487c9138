import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { agentPath } from "./support/command.ts";

interface Ps {
  readonly daemons: readonly { readonly home: string; readonly pid: number; readonly status: string }[];
  readonly workers: readonly { readonly home: string; readonly name: string; readonly pid: number }[];
  readonly orphans: readonly { readonly pid: number }[];
  readonly scan: { readonly complete: boolean };
}

interface Outcome {
  readonly stopped: readonly { readonly kind: string; readonly pid: number | null }[];
  readonly kept: readonly object[];
  readonly failed: readonly object[];
}

const script = fileURLToPath(new URL("support/every-home.sh", import.meta.url));
const DEADLINE_MS = 150_000;

/** `ps --force-stop --all` would end everything of this user, so it sees a pid namespace of its own alone. */
async function inNamespace(
  root: string,
): Promise<{ code: number | null; stderr: string; results: Map<string, string> }> {
  const env = { PATH: process.env["PATH"], HOME: root, LANG: "C.UTF-8", AGENT: `${process.execPath} ${agentPath}` };
  const args = ["--pid", "--fork", "--mount-proc", "--kill-child", "bash", script, root];
  const child = spawn("unshare", args, { env, stdio: ["ignore", "pipe", "pipe"], timeout: DEADLINE_MS });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].on("data", (bytes: Buffer) => (said[name] += bytes.toString()));
  const code = await new Promise<number | null>((resolve) => void child.on("close", resolve));
  const lines = said.stdout.split("\n").map((line) => line.split("\t"));
  return { code, stderr: said.stderr, results: new Map(lines.map(([name = "", value = ""]) => [name, value])) };
}

it(
  "ps --force-stop ends what belongs to one home, and with --all everything, while a start waits its turn",
  async () => {
    const root = mkdtempSync(join(tmpdir(), "hf-all-"));
    try {
      const { code, stderr, results } = await inNamespace(root);
      if (code !== 0) throw new Error(`exit ${code}: ${stderr}`);
      const text = (name: string): string => results.get(name) ?? "";
      const ps = (name: string): Ps => JSON.parse(text(name));
      const outcome = (name: string): Outcome => JSON.parse(text(name));
      const tmux = Number(text("tmux"));

      const before = ps("before");
      const [a, b] = [join(root, "a"), join(root, "b")];
      const status = before.daemons.map((daemon) => `${daemon.home} ${daemon.status}`).toSorted();
      expect(status).toEqual([`${a} current`, `${b} busy`]);
      const workers = before.workers.map(({ home, name }) => `${home} ${name}`).toSorted();
      expect(workers).toEqual([`${a} frozen`, `${a} healthy`, `${b} frozen`, `${b} healthy`]);
      expect(before.orphans).toMatchObject([{ pid: tmux }]);
      expect(before.scan.complete).toBe(true);
      // Two daemons, four workers with their shells, two commands, and what was left.
      expect(text("running")).toBe("13");

      expect([text("one_code"), text("started"), text("after_kill")]).toEqual(["0", "0", "0"]);
      expect(outcome("one")).toMatchObject({ stopped: [{ kind: "daemon" }, { kind: "worker" }], failed: [] });
      expect(text("one_said")).toContain("not touched: 2 daemons of other homes;not touched: 4 workers of other homes");
      expect(text("one_state")).toBe("stopped");
      const others = (seen: Ps): number[] =>
        [...seen.daemons, ...seen.workers].filter(({ home }) => home !== join(root, "c")).map(({ pid }) => pid);
      expect(others(ps("between"))).toEqual(others(before));

      expect(text("all_code")).toBe("0");
      const all = outcome("all");
      expect(all).toMatchObject({ kept: [], failed: [] });
      const ended = new Map(all.stopped.map(({ pid, kind }) => [pid, kind]));
      for (const { pid } of before.daemons) expect(ended.get(pid)).toBe("daemon");
      for (const { pid } of before.workers) expect(ended.get(pid)).toBe("worker");
      expect(ended.get(tmux)).toBe("process");
      expect(text("all_said")).toBe("0");
      expect(ps("after")).toMatchObject({ daemons: [], workers: [], orphans: [], scan: { complete: true } });
      expect(text("left")).toBe("");
    } finally {
      rmSync(root, { recursive: true, force: true, maxRetries: 3 });
    }
  },
  DEADLINE_MS + 10_000,
);
