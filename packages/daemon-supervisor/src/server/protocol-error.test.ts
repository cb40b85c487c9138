import { ProtocolError } from "@holdfast/client/protocol";
import { nodeFileSystem, openJournal, replaceFile } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { CodedError } from "@holdfast/shared-process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { takesNothing } from "../disk.ts";
import { asProtocolError } from "./protocol-error.ts";

let root: string;
beforeEach(() => void (root = mkdtempSync(join(tmpdir(), "errors-"))));
afterEach(() => rmSync(root, { recursive: true }));

const failing = (errno: string): FileSystem => ({
  ...nodeFileSystem,
  open: () => {
    throw Object.assign(new Error(errno), { code: errno });
  },
});

async function thrownBy(run: () => unknown): Promise<unknown> {
  try {
    await run();
  } catch (error) {
    return error;
  }
  return undefined;
}

const open = (fs: FileSystem): Promise<unknown> =>
  thrownBy(() =>
    openJournal({
      directory: join(root, "journal"),
      owner: { generation: "g", identity: {} },
      kinds: [],
      probeOwner: () => "gone",
      fs,
    }),
  );

it.each([
  ["ENOSPC", "disk_full"],
  ["EMFILE", "too_many_open_files"],
  ["EROFS", "permission_denied"],
  ["EACCES", "permission_denied"],
  ["EPERM", "permission_denied"],
  ["EIO", "internal"],
])("says of %s in a replacement, and in the open of a journal, what it is to a client", async (errno, code) => {
  const replaced = await thrownBy(() => replaceFile(failing(errno), join(root, "f"), "x"));
  const told = [replaced, await open(failing(errno))].map(asProtocolError);
  expect(told).toMatchObject([{ code }, { code }]);
  const hint = ["permission_denied", "internal"].includes(code) ? "agent doctor, or agent daemon logs" : undefined;
  expect(told).toMatchObject([{ hint }, { hint }]);
});

it("leaves a bug as it is", () => {
  const bug = new TypeError("x is not a function");
  expect(asProtocolError(bug)).toBe(bug);
});

it("I152 says of a replacement through a linked directory that the directory is unsafe", async () => {
  symlinkSync(root, join(root, "link"));
  const refused = await thrownBy(() => replaceFile(nodeFileSystem, join(root, "link", "f"), "x"));
  expect(asProtocolError(refused)).toMatchObject({ code: "unsafe_directory" });
});

it("I168 a journal on a disk that became read-only is one that takes nothing, and holds up no stop", async () => {
  const refused = await open(failing("EROFS"));
  expect(refused).toMatchObject({ code: "journal_unavailable" });
  expect([takesNothing(refused), takesNothing(await open(failing("EIO")))]).toEqual([true, false]);
});

it("names the doctor for a session whose files fail every resume, and for no other", () => {
  const hint = "agent session resume s";
  const failed = (reason: string) => asProtocolError(new ProtocolError("session_failed", reason, { hint }));
  expect(failed("/s/journal/e1: corrupt; agent doctor tells the way out")).toMatchObject({ hint: "agent doctor" });
  expect(failed("its directory is gone")).toMatchObject({ hint });
});

it("a journal of requests that is refused leads to who tells the way out", () => {
  const refused = asProtocolError(new CodedError("journal_refused", "/h/journal is not a directory"));
  expect(refused).toMatchObject({ code: "internal", hint: "agent doctor tells the way out" });
});
