import { mkdirSync, renameSync, rmdirSync, symlinkSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createProjectTrustAuthority, isProjectTrustAuthority } from "./authority.ts";
import { granted, only, verdictOf, watchedAuthority } from "./authority.testing.ts";
import { canonicalDirectory } from "./canonical-directory.ts";
import { identityToJson } from "./identity.ts";
import type { PolicyEntry } from "./policy.ts";
import { Temporary } from "./temporary.testing.ts";
import { systemError, WatchedCalls } from "./watched-calls.testing.ts";

const entryOf = (directory: string, revision = "r"): PolicyEntry => {
  const { identity } = only(canonicalDirectory(directory), "canonical");
  return { directory, revision, identity: identityToJson(identity) };
};

describe("an authority", () => {
  it("I47 grants the listed directories alone, by their exact paths", () => {
    using temporary = new Temporary();
    const directory = temporary.directory("a");
    temporary.directory("a", "below");
    temporary.directory("b");
    symlinkSync(directory, temporary.at("link"));
    using authority = createProjectTrustAuthority({ policy: [directory] });
    const verdicts = [
      directory,
      `${directory}/below`,
      temporary.path,
      temporary.at("b"),
      temporary.at("link"),
      "/",
    ].map((path) => verdictOf(authority.authorize(path)));
    expect(verdicts).toEqual(["granted", ...Array.from({ length: 5 }, () => "not_listed")]);
  });

  it.each([
    ["/", "not_canonical"],
    ["/.", "not_canonical"],
    ["/../a", "not_canonical"],
    ["/\0", "nul"],
    ["/\ud800", "lone_surrogate"],
  ])("I47 denies the listed path with %j behind it", (behind, reason) => {
    using temporary = new Temporary();
    using authority = createProjectTrustAuthority({ policy: [temporary.path] });
    expect(verdictOf(authority.authorize(temporary.path + behind))).toBe(reason);
    expect(verdictOf(authority.authorize(temporary.path.slice(1)))).toBe("not_absolute");
    expect(verdictOf(authority.authorize([temporary.path]))).toBe("not_a_string");
  });

  it("I47 refuses a malformed policy whole, denies everything by it, and says which entry", () => {
    using temporary = new Temporary();
    using authority = createProjectTrustAuthority({ policy: [temporary.path, `${temporary.path}/`] });
    const fault = {
      index: 1,
      value: JSON.stringify(`${temporary.path}/`),
      why: expect.stringContaining("not_canonical"),
    };
    expect(authority.policy()).toEqual({ kind: "malformed", fault });
    expect(authority.authorize(temporary.path)).toMatchObject({
      reason: "malformed_policy",
      detail: expect.stringContaining("entry 1"),
    });
    expect(authority.entries()).toEqual([]);
    expect(authority.update([temporary.path])).toEqual({ kind: "in_force", entries: 1 });
    const binding = granted(authority.authorize(temporary.path));
    authority.update(["nonsense"]);
    expect([authority.validate(binding), authority.authorize(temporary.path)].map(verdictOf)).toEqual([
      "malformed_policy",
      "malformed_policy",
    ]);
    authority.update([temporary.path]);
    expect(verdictOf(authority.validate(binding))).toBe("malformed_policy");
  });

  it("I47 keeps what it was given, whatever becomes of that", () => {
    using temporary = new Temporary();
    const [a, b] = [temporary.directory("a"), temporary.directory("b")];
    const entry = { ...entryOf(a) };
    const policy: (PolicyEntry | string)[] = [entry];
    using authority = createProjectTrustAuthority({ policy });
    policy.push(b);
    Object.assign(entry, { directory: b, revision: "s" });
    Object.assign(entry.identity ?? {}, { inode: "1" });
    expect([a, b].map((directory) => verdictOf(authority.authorize(directory)))).toEqual(["granted", "not_listed"]);
    expect(authority.entries()).toEqual([{ directory: a, revision: "r", state: "trusted" }]);
  });

  it("I47 one that vanished and one that changed, among forty, deny themselves alone", () => {
    using temporary = new Temporary();
    const directories = Array.from({ length: 40 }, (_, index) => temporary.directory(String(index)));
    const calls = new WatchedCalls();
    const authority = createProjectTrustAuthority({ policy: directories.map((path) => entryOf(path)), calls });
    const bindings = directories.map((directory) => granted(authority.authorize(directory)));
    rmdirSync(temporary.at("7"));
    renameSync(temporary.at("9"), temporary.at("moved"));
    mkdirSync(temporary.at("9"));
    const expected = directories.map((_, index) => (index === 7 ? "missing" : index === 9 ? "replaced" : "granted"));
    expect(bindings.map((binding) => verdictOf(authority.validate(binding)))).toEqual(expected);
    expect(directories.map((directory) => verdictOf(authority.authorize(directory)))).toEqual(expected);
    const states = authority.entries().map(({ state, reason }) => [state, reason]);
    expect(states[7]).toEqual(["missing", "missing"]);
    expect(states[9]).toEqual(["replaced", "replaced"]);
    expect(states.filter(([state]) => state === "trusted").length).toBe(38);
    expect(calls.descriptors.size).toBe(38);
    authority.dispose();
    expect(calls.descriptors.size).toBe(0);
  });

  it("I160 a directory that was not there when its path was listed is not trusted when it comes", () => {
    using temporary = new Temporary();
    const directory = temporary.at("later");
    using authority = createProjectTrustAuthority({ policy: [directory] });
    mkdirSync(directory);
    expect(verdictOf(authority.authorize(directory))).toBe("missing");
    expect(authority.entries()).toMatchObject([{ state: "missing" }]);
    authority.update([directory]);
    expect(verdictOf(authority.authorize(directory))).toBe("granted");
  });

  it("I49 asks nothing in a directory whether it is trusted: no name in it is looked at", () => {
    using temporary = new Temporary();
    const [listed, other] = [temporary.directory("listed"), temporary.directory("other")];
    const granting = JSON.stringify({
      schemaVersion: 1,
      directories: [entryOf(listed), entryOf(other)],
      trusted: true,
    });
    for (const name of ["trust.json", ".holdfast/config.json", ".holdfast/trust.json", ".mcp.json"])
      for (const directory of ["listed", "other"]) temporary.file(`${directory}/${name}`, granting);
    const calls = new WatchedCalls();
    const asked: string[] = [];
    calls.before = (_call, about) => void asked.push(about);
    using authority = createProjectTrustAuthority({ policy: [listed], calls });
    expect([other, listed].map((directory) => verdictOf(authority.authorize(directory)))).toEqual([
      "not_listed",
      "granted",
    ]);
    authority.entries();
    expect(asked.length).toBeGreaterThan(20);
    expect(asked.filter((about) => /json|holdfast$|mcp|other/.test(about))).toEqual([]);
  });

  it("I49 is changed by nothing that an operation reads or does in its directory", async () => {
    using temporary = new Temporary();
    const [listed, other] = [temporary.directory("listed"), temporary.directory("other")];
    const policy = [entryOf(listed)];
    using authority = createProjectTrustAuthority({ policy });
    const before = authority.entries();
    const binding = granted(authority.authorize(listed));
    await authority.withBinding(binding, (root) => {
      temporary.file("listed/trust.json", JSON.stringify({ schemaVersion: 1, directories: [entryOf(other)] }));
      policy.push(entryOf(other));
      expect(Object.keys(root)).toEqual(["readFile", "list", "cwd"]);
      expect([root, authority, binding].every(Object.isFrozen)).toBe(true);
    });
    expect([authority.entries(), verdictOf(authority.authorize(other))]).toEqual([before, "not_listed"]);
  });

  it("says in entries what a link and a file in a directory's place are", () => {
    using temporary = new Temporary();
    const directory = temporary.directory("a");
    using authority = createProjectTrustAuthority({ policy: [entryOf(directory)] });
    renameSync(directory, temporary.at("b"));
    symlinkSync("b", directory);
    expect(authority.entries()).toMatchObject([{ state: "replaced", reason: "symlink" }]);
    renameSync(directory, temporary.at("link"));
    temporary.file("a");
    expect(authority.entries()).toMatchObject([{ state: "replaced", reason: "not_a_directory" }]);
  });

  it("I122 holds nothing before the first grant, one descriptor for each directory, and nothing at the end", () => {
    using temporary = new Temporary();
    const { authority, calls } = watchedAuthority(temporary.directory("a"), temporary.directory("b"));
    expect(calls.descriptors.size).toBe(0);
    const bindings = ["a", "a", "b"].map((name) => granted(authority.authorize(temporary.at(name))));
    expect(calls.descriptors.size).toBe(2);
    for (const binding of bindings.slice(0, 2)) authority.revoke(binding);
    expect(calls.descriptors.size).toBe(1);
    authority.dispose();
    authority[Symbol.dispose]();
    expect(calls.descriptors.size).toBe(0);
    const after = [authority.authorize(temporary.at("b")), authority.validate(bindings[2]), authority.validate({})];
    expect(after.map(verdictOf)).toEqual(["disposed", "disposed", "disposed"]);
    expect([authority.entries(), authority.update([temporary.path])]).toEqual([[], { kind: "in_force", entries: 0 }]);
    expect(verdictOf(authority.authorize(temporary.path))).toBe("disposed");
  });

  it("I122 trouble of the moment denies once, revokes nothing and leaves nothing open", () => {
    using temporary = new Temporary();
    const { authority, calls } = watchedAuthority(temporary.path);
    const binding = granted(authority.authorize(temporary.path));
    for (const code of ["EMFILE", "ENFILE", "EIO", "EACCES"]) {
      calls.before = (call) => {
        if (call === "open") throw systemError(code);
      };
      expect([authority.validate(binding), authority.authorize(temporary.path)].map(verdictOf)).toEqual([
        "unreadable",
        "unreadable",
      ]);
      expect(authority.entries()).toMatchObject([{ state: "unreadable", reason: "unreadable" }]);
      calls.before = () => {};
      expect(verdictOf(authority.validate(binding))).toBe("granted");
      expect(calls.descriptors.size).toBe(1);
    }
    authority.dispose();
  });

  it.each(["darwin", "win32", "freebsd", "android"])("I122 denies everything on %s", (platform) => {
    using temporary = new Temporary();
    const calls = new WatchedCalls();
    using authority = createProjectTrustAuthority({ policy: [temporary.path], calls, platform });
    expect(verdictOf(authority.authorize(temporary.path))).toBe("unsupported_platform");
    expect(authority.entries()).toMatchObject([{ state: "unreadable", reason: "unsupported_platform" }]);
    expect(calls.count).toBe(0);
  });

  it("I122 denies everything without /proc", () => {
    using temporary = new Temporary();
    const calls = new WatchedCalls();
    calls.proc = false;
    using authority = createProjectTrustAuthority({ policy: [temporary.path], calls });
    expect(verdictOf(authority.authorize(temporary.path))).toBe("unsupported_platform");
  });

  it("is frozen, and known by its own identity", () => {
    using authority = createProjectTrustAuthority({ policy: [] });
    expect(Object.isFrozen(authority)).toBe(true);
    const others = [{ ...authority }, Object.create(authority), new Proxy(authority, {}), null, "authority", {}];
    expect([isProjectTrustAuthority(authority), ...others.map(isProjectTrustAuthority)]).toEqual([
      true,
      ...others.map(() => false),
    ]);
  });
});
