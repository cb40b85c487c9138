import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeFileSystem } from "@holdfast/recovery-journal";
import { expect, it, onTestFinished } from "vitest";
import { Catalog } from "./catalog.ts";
import { readAllSessions } from "./session-record-file.ts";

const ID = "01a22c51-90e0-765d-8261-51118abd6090";
const COPY = "session.json.0123456789ab.tmp";

function homeWith(...files: readonly string[]): { readonly home: string; readonly directory: string } {
  const home = mkdtempSync(join(tmpdir(), "hf-unmade-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const directory = join(home, "sessions", ID);
  mkdirSync(directory, { recursive: true });
  for (const name of files) writeFileSync(join(directory, name), "");
  return { home, directory };
}

it.each([[[]], [[COPY]], [[COPY, COPY.replace("0", "f")]]])(
  "I124 a creation that was cut off, with %j in its directory, is no session and leaves nothing",
  (files) => {
    const { home, directory } = homeWith(...files);
    expect(readAllSessions(nodeFileSystem, home)).toEqual([]);
    const catalog = new Catalog(home);
    expect([...catalog.quarantined]).toEqual([]);
    expect(existsSync(directory)).toBe(false);
  },
);

it.each([[["transcript.jsonl"]], [[COPY, "transcript.jsonl"]], [["session.json"]]])(
  "I142 a session with %j whose record is missing or damaged is shown and stays",
  (files) => {
    const { home, directory } = homeWith(...files);
    expect(readAllSessions(nodeFileSystem, home)).toMatchObject([{ kind: "unreadable", sessionId: ID }]);
    const catalog = new Catalog(home);
    expect([...catalog.quarantined.keys()]).toEqual([ID]);
    expect(files.map((name) => existsSync(join(directory, name)))).toEqual(files.map(() => true));
  },
);
