import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const files = {
  "packages/client/src/bad.ts": 'export { systemClock } from "@holdfast/shared-process";\n',
  "packages/client/src/good.ts": 'export { join } from "node:path";\n',
  "packages/cli/src/spawns.ts": 'export { spawn } from "node:child_process";\n',
  "packages/cli/src/signals.ts": "export const end = (pid: number): boolean => process.kill(pid);\n",
  "packages/cli/src/deep.ts": 'export { Client } from "../../client/src/client.ts";\n',
  "packages/cli/src/good.ts": 'export { ProtocolError } from "@holdfast/client/protocol";\n',
  "packages/session-worker/src/bad.ts": 'export { connect } from "@holdfast/client";\n',
  "packages/session-worker/src/good.ts": 'export { ProtocolError } from "@holdfast/client/protocol";\n',
  "packages/daemon-supervisor/src/bad.ts": 'export { runWorker } from "@holdfast/session-worker/main";\n',
  "packages/recovery-journal/src/bad.ts": 'export { claim } from "@holdfast/daemon-supervisor";\n',
  "packages/project-trust/src/bad.ts": 'export { openWorker } from "@holdfast/session-worker/transport";\n',
  "packages/project-trust/src/good.ts": 'export { replaceFile } from "@holdfast/recovery-journal";\n',
  "packages/shared-process/src/good.ts": 'export { spawn } from "node:child_process";\n',
};

interface Diagnostic {
  readonly code: string;
  readonly filename: string;
}

let tree = "";
let found: Diagnostic[] = [];

beforeAll(() => {
  tree = mkdtempSync(join(tmpdir(), "hf-rules-"));
  const config = JSON.parse(readFileSync(join(root, ".oxlintrc.json"), "utf8"));
  config.options.typeAware = false;
  delete config.$schema;
  for (const [name, text] of Object.entries({ ...files, ".oxlintrc.json": JSON.stringify(config) })) {
    mkdirSync(dirname(join(tree, name)), { recursive: true });
    writeFileSync(join(tree, name), text);
  }
  const oxlint = join(root, "node_modules/.bin/oxlint");
  const { stdout, stderr } = spawnSync(oxlint, ["--format", "json"], { cwd: tree, encoding: "utf8" });
  if (!stdout.includes("diagnostics")) throw new Error(`oxlint: ${stdout}${stderr}`);
  found = JSON.parse(stdout).diagnostics;
});

afterAll(() => rmSync(tree, { recursive: true, force: true }));

it.each(Object.keys(files).filter((name) => !name.endsWith("good.ts")))("the import rules refuse %s", (name) => {
  const rules = found.filter(({ filename }) => filename.endsWith(name)).map(({ code }) => code);
  expect(rules).toContainEqual(expect.stringMatching(/no-restricted-(imports|properties)/));
});

it("the import rules allow what DESIGN §2 allows", () => {
  expect(found.filter(({ filename }) => filename.endsWith("good.ts"))).toEqual([]);
});
