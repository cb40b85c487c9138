import { SimulatedDisk } from "@holdfast/recovery-journal/testing";
import { describe, expect, it } from "vitest";
import { MAX_ENTRIES } from "./policy.ts";
import {
  MAX_TRUST_FILE_BYTES,
  policyOf,
  readTrustFile,
  trustTextOf,
  withAdded,
  withRemoved,
  writeTrustFile,
} from "./trust-file.ts";
import type { TrustedDirectory } from "./trust-format.ts";

const PATH = "/home/trust.json";
const AT = "2026-01-02T03:04:05.678Z";
const uuid = (digit: number): string => "11111111-1111-4111-8111-111111111111".replaceAll("1", String(digit));

const entry = (directory: string, digit = 1): TrustedDirectory => ({
  directory,
  device: "64768",
  inode: String(digit),
  birthTimeNs: "1767323045678901234",
  revision: uuid(digit),
  addedAt: AT,
});

/** With the longest escapes, and as long as the file's bytes allow for each of so many. */
const long = (index: number): string => `/${index}${`/${"\x01".repeat(254)}`.repeat(4)}`;

const list = (...entries: readonly string[]): string => `{"schemaVersion":1,"directories":[${entries.join(",")}]}`;

function newDisk(): SimulatedDisk {
  const disk = new SimulatedDisk();
  disk.mkdir("/home", 0o700);
  syncNames(disk);
  return disk;
}

function syncNames(disk: SimulatedDisk): void {
  for (const path of ["/", "/home"]) disk.fsync(disk.open(path, 0));
}

function readText(text: string | Uint8Array): ReturnType<typeof readTrustFile> {
  const disk = newDisk();
  disk.plant(PATH, Buffer.from(text));
  return readTrustFile(disk, PATH);
}

describe("the durable policy", () => {
  it("is read as it was written, mode 0600", () => {
    const disk = newDisk();
    expect(readTrustFile(disk, PATH)).toEqual({ kind: "absent" });
    const directories = [entry("/a"), { ...entry("/b é\n", 2), via: "./link" }];
    writeTrustFile(disk, PATH, directories);
    expect(readTrustFile(disk, PATH)).toEqual({ kind: "policy", directories });
    expect(disk.lstat(PATH).mode & 0o7777n).toBe(0o600n);
    writeTrustFile(disk, PATH, []);
    expect(readTrustFile(disk, PATH)).toEqual({ kind: "policy", directories: [] });
  });

  it("takes as many as an authority does, with the longest paths, and no more", () => {
    const disk = newDisk();
    const directories = Array.from({ length: MAX_ENTRIES }, (_, index) => entry(long(index)));
    writeTrustFile(disk, PATH, directories);
    expect(readTrustFile(disk, PATH)).toEqual({ kind: "policy", directories });
    expect(() => writeTrustFile(disk, PATH, [...directories, entry("/one-more")])).toThrow(
      expect.objectContaining({ code: "malformed_policy" }),
    );
    expect(readTrustFile(disk, PATH)).toEqual({ kind: "policy", directories });
  });

  it("I47 is not written where it could not be read back", () => {
    const disk = newDisk();
    for (const wrong of [[entry("a")], [entry("/a"), entry("/a")], [{ ...entry("/a"), revision: "r" }]])
      expect(() => writeTrustFile(disk, PATH, wrong)).toThrow(expect.objectContaining({ code: "malformed_policy" }));
    expect(disk.exists(PATH)).toBe(false);
  });

  const good = JSON.stringify(entry("/a"));
  const changed = (change: object): string => list(good, JSON.stringify({ ...entry("/b"), ...change }));
  it.each([
    ["nothing", "", null, "JSON"],
    ["half of it", list(good).slice(0, -4), null, "JSON"],
    ["bytes that are no UTF-8", Buffer.from(changed({ via: "\u00ff" }), "latin1"), null, "JSON"],
    ["a mark before it", `\ufeff${list(good)}`, null, "JSON"],
    ["null", "null", null, "object"],
    ["a list", `[${good}]`, null, "not a key"],
    ["no version", '{"directories":[]}', null, "schemaVersion is nothing"],
    ["a later version", '{"schemaVersion":2,"directories":[]}', null, "schemaVersion is 2"],
    ["a version in words", '{"schemaVersion":"1","directories":[]}', null, "schemaVersion"],
    ["an unknown key", '{"schemaVersion":1,"directories":[],"trustAll":true}', null, '"trustAll"'],
    ["__proto__", '{"schemaVersion":1,"directories":[],"__proto__":{}}', null, '"__proto__"'],
    ["no list", '{"schemaVersion":1,"directories":{}}', null, "array"],
    ["more than it may have", list(...Array.from({ length: MAX_ENTRIES + 1 }, () => good)), null, "1024"],
    ["too many bytes", " ".repeat(MAX_TRUST_FILE_BYTES + 1), null, "bytes"],
    ["a path alone", list(good, '"/b"'), 1, "object"],
    ["an unknown key of one", changed({ subdirectories: true }), 1, '"subdirectories"'],
    ["a path that is not canonical", changed({ directory: "/b/" }), 1, '"/b/"'],
    ["a number for an inode", changed({ inode: 5 }), 1, "which directory"],
    ["no birth time", changed({ birthTimeNs: undefined }), 1, "which directory"],
    ["no UUID", changed({ revision: "1" }), 1, "UUID"],
    ["no moment", changed({ addedAt: "yesterday" }), 1, "addedAt"],
    ["a moment of another zone", changed({ addedAt: "2026-01-02T03:04:05.678+01:00" }), 1, "addedAt"],
    ["a number for a spelling", changed({ via: 5 }), 1, "via"],
    ["a long spelling", changed({ via: "x".repeat(4097) }), 1, "via"],
    ["the same again", list(good, JSON.stringify(entry("/b")), good), 2, "already"],
  ])("I47 is refused whole with %s, and says where", (_case, text, at, why) => {
    expect(readText(text)).toMatchObject({ kind: "malformed", entry: at, why: expect.stringContaining(why) });
  });

  it("says that it cannot be read, where the disk does not give it", () => {
    const disk = newDisk();
    writeTrustFile(disk, PATH, [entry("/a")]);
    disk.inject({ call: "open", errno: "EACCES", lasting: true });
    expect(readTrustFile(disk, PATH)).toEqual({ kind: "unreadable", errno: "EACCES" });
    disk.heal();
    disk.inject({ call: "read", errno: "EIO" });
    expect(readTrustFile(disk, PATH).kind).toBe("policy");
  });

  it("I48 is what an authority is given: each directory with its revision and what it was", () => {
    expect(policyOf([{ ...entry("/a"), via: "./a" }])).toEqual([
      {
        directory: "/a",
        revision: uuid(1),
        identity: { directory: "/a", device: "64768", inode: "1", birthTimeNs: "1767323045678901234" },
      },
    ]);
  });
});

describe("a change of the policy", () => {
  const identity = { directory: "/b", device: 1n, inode: 22n, birthTimeNs: 3n };
  const added = { directory: "/b", device: "1", inode: "22", birthTimeNs: "3", revision: uuid(7), addedAt: AT };

  it("adds at the end, or renews in place what is there", () => {
    const before = [entry("/a"), entry("/b", 2), entry("/c", 3)];
    const again = withAdded(before, { identity, revision: uuid(7), addedAt: AT });
    expect(again).toEqual([entry("/a"), added, entry("/c", 3)]);
    expect(before[1]).toEqual(entry("/b", 2));
    expect(withAdded([entry("/a")], { identity, revision: uuid(7), addedAt: AT, via: "b" })).toEqual([
      entry("/a"),
      { ...added, via: "b" },
    ]);
  });

  it("removes one alone, or nothing", () => {
    const before = [entry("/a"), entry("/a/b", 2), entry("/c", 3)];
    expect(withRemoved(before, "/a")).toEqual([entry("/a/b", 2), entry("/c", 3)]);
    expect(withRemoved(before, "/d")).toEqual(before);
  });
});

describe("a power cut while the policy is changed", () => {
  it.each([
    ["the first directory", null, [entry("/a")]],
    ["one more", [entry("/a")], [entry("/a"), entry("/b", 2)]],
    ["one less", [entry("/a"), entry("/b", 2)], [entry("/b", 2)]],
    ["many", Array.from({ length: 30 }, (_, at) => entry(`/${at}`)), [entry("/z")]],
  ])("I47 I69 leaves the old one or the new one at each call, never a malformed one: %s", (_case, before, after) => {
    const disk = newDisk();
    if (before !== null) disk.plant(PATH, Buffer.from(trustTextOf(before)));
    syncNames(disk);
    const kept = before === null ? { kind: "absent" } : { kind: "policy", directories: before };
    const wanted = { kind: "policy", directories: after };
    const seen = new Set<string>();
    let states = 0;
    disk.onCall = () => {
      for (const state of disk.crashStates()) {
        states += 1;
        seen.add(JSON.stringify(readTrustFile(state, PATH)));
      }
    };
    writeTrustFile(disk, PATH, after);
    disk.onCall = null;
    expect(seen).toEqual(new Set([kept, wanted].map((policy) => JSON.stringify(policy))));
    expect(states).toBeGreaterThan(10);
    for (const state of disk.crashStates()) expect(readTrustFile(state, PATH)).toEqual(wanted);
  });

  it("I109 says what is in place when the disk fails", () => {
    const disk = newDisk();
    writeTrustFile(disk, PATH, [entry("/a")]);
    disk.inject({ call: "rename", errno: "EIO" });
    expect(() => writeTrustFile(disk, PATH, [])).toThrow(expect.objectContaining({ code: "not_replaced" }));
    expect(readTrustFile(disk, PATH)).toMatchObject({ directories: [entry("/a")] });
  });
});
