import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { FakeIo } from "../test/fake-io.ts";
import { copyGolden, everything, goldenNames } from "../test/golden-journals.ts";
import { run } from "./run.ts";

async function journal(verb: string, path: string): Promise<{ code: number; value: unknown; stderr: string }> {
  const io = new FakeIo();
  const code = await run(["journal", verb, path, "--json"], io);
  return { code, value: JSON.parse(io.stdout.text), stderr: io.stderr.text };
}

it.each(goldenNames)("agent journal gives a golden file its verdict, and writes nothing: %s", async (name) => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-cli-golden-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { directory, path, code, verdict, open } = copyGolden(name, folder);
  const before = everything(directory);
  expect(await journal("verify", path)).toMatchObject({ code, value: verdict, stderr: "" });
  expect(await journal("show", path)).toMatchObject({ code, value: { ...verdict, ...open } });
  expect(everything(directory)).toEqual(before);
});
