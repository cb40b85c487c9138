import { build } from "esbuild";
import { execa } from "execa";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";

const dist = fileURLToPath(new URL("../dist/index.js", import.meta.url));

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "holdfast-flush-"));
});
afterEach(() => rmSync(root, { recursive: true }));

/** Nothing but the flush keeps this process alive, and nothing is closed. */
const program = (library: string): string => `
import { openJournal } from ${JSON.stringify(library)};
const directory = process.argv[2];
const owner = { generation: "g1", identity: {} };
const options = { directory, owner, kinds: ["prompt"], probeOwner: () => "gone", engine: "thread" };
void openJournal(options).then(async ({ journal }) => {
  await journal.begin({ operationId: "a", generation: "g1", kind: "prompt" });
  console.log("durable");
});
`;

it("keeps a process alive until its flush is over and no longer, from the package", async () => {
  const path = join(root, "program.mjs");
  writeFileSync(path, program(dist));
  const { stdout } = await execa(process.execPath, [path, join(root, "journal")], { timeout: 20_000 });
  expect(stdout).toBe("durable");
});

it("flushes on its thread from a bundle, which is one CommonJS file", async () => {
  const outfile = join(root, "bundle.cjs");
  const stdin = { contents: program(dist), resolveDir: root };
  await build({
    stdin,
    outfile,
    bundle: true,
    format: "cjs",
    platform: "node",
    minifySyntax: true,
    external: ["koffi"],
  });
  const { stdout } = await execa(process.execPath, [outfile, join(root, "journal")], { timeout: 20_000 });
  expect(stdout).toBe("durable");
});
