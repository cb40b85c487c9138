import { SimulatedDisk } from "@holdfast/recovery-journal/testing";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { readTrustFile, withAdded, withRemoved, writeTrustFile } from "../src/trust-file.ts";
import type { TrustedDirectory } from "../src/trust-format.ts";

/**
 * One directory for each case: a policy as a writer of that version has left it, and `verdict.json`, what a reader says
 * of it.
 */
export const goldenRoot = fileURLToPath(new URL("../golden/", import.meta.url));
export const FILE = "trust.json";
export const VERDICT = "verdict.json";

const PATH = `/home/${FILE}`;

export const goldenFile = (name: string, file: string): Buffer => readFileSync(`${goldenRoot}${name}/${file}`);

/** What a reader says of these bytes. */
export function verdictOn(bytes: Uint8Array): unknown {
  const disk = newDisk();
  disk.plant(PATH, bytes);
  return readTrustFile(disk, PATH);
}

function newDisk(): SimulatedDisk {
  const disk = new SimulatedDisk();
  disk.mkdir("/home", 0o700);
  return disk;
}

/** The cases as the writer makes them now. */
export function madeNow(): Readonly<Record<string, Buffer>> {
  const added = withAdded(withAdded([], first), second);
  const renewed = withAdded(added, { ...first, revision: uuid(3) });
  const whole = written(added);
  return {
    "v1/empty": written([]),
    "v1/added": whole,
    "v1/renewed": written(renewed),
    "v1/removed": written(withRemoved(renewed, first.identity.directory)),
    "v1/malformed-entry": Buffer.from(whole.toString().replace('"/work/grüße"', '"/work/grüße/"')),
    "v1/malformed-version": Buffer.from(whole.toString().replace('"schemaVersion": 1', '"schemaVersion": 2')),
  };
}

function written(directories: readonly TrustedDirectory[]): Buffer {
  const disk = newDisk();
  writeTrustFile(disk, PATH, directories);
  return disk.contentOf(PATH);
}

const uuid = (digit: number): string => "11111111-1111-4111-8111-111111111111".replaceAll("1", String(digit));

const first = {
  identity: { directory: "/work/project", device: 64_768n, inode: 2_146_947n, birthTimeNs: 1_767_323_045_678_901_234n },
  revision: uuid(1),
  addedAt: "2026-01-02T03:04:05.678Z",
};
const second = {
  identity: { directory: "/work/grüße", device: (1n << 64n) - 1n, inode: (1n << 53n) + 1n, birthTimeNs: 0n },
  revision: uuid(2),
  addedAt: "2026-02-03T04:05:06.789Z",
  via: "./link",
};
