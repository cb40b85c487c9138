import { mkdirSync, renameSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createProjectTrustAuthority } from "./authority.ts";
import { granted, only, verdictOf, withoutBirths } from "./authority.testing.ts";
import type { PolicyEntry } from "./policy.ts";
import { Temporary } from "./temporary.testing.ts";
import type { BoundIdentity, ProjectTrustAuthority } from "./types.ts";
import { WatchedCalls } from "./watched-calls.testing.ts";

function kept(authority: ProjectTrustAuthority, binding: unknown): BoundIdentity {
  return only(authority.identityOf(binding), "identity").identity;
}

/** What a later process reads. */
const read = (identity: BoundIdentity): unknown => JSON.parse(JSON.stringify(identity));

const entryOf = ({ revision, ...identity }: BoundIdentity): PolicyEntry => ({
  directory: identity.directory,
  revision,
  identity,
});

describe("a binding in a later process", () => {
  it("I48 I160 is a new one, for the same directory under the same revision", () => {
    using temporary = new Temporary();
    const directory = temporary.directory("a");
    const first = createProjectTrustAuthority({ policy: [{ directory, revision: "r" }] });
    const binding = granted(first.authorize(directory));
    const identity = kept(first, binding);
    expect(Object.keys(identity)).toEqual(["directory", "device", "inode", "birthTimeNs", "revision"]);
    expect(identity).toMatchObject({ directory, revision: "r" });
    expect(granted(first.reissue(read(identity)))).not.toBe(binding);
    first.dispose();
    expect(verdictOf(first.reissue(read(identity)))).toBe("disposed");
    using next = createProjectTrustAuthority({ policy: [entryOf(identity)] });
    expect(verdictOf(next.reissue(read(identity)))).toBe("granted");
    const policies: readonly (readonly [PolicyEntry | string, string])[] = [
      [{ ...entryOf(identity), revision: "s" }, "other_revision"],
      [directory, "other_revision"],
      [temporary.path, "not_listed"],
      [{ directory, revision: "r" }, "granted"],
    ];
    for (const [entry, verdict] of policies) {
      next.update([entry]);
      expect(verdictOf(next.reissue(read(identity)))).toBe(verdict);
    }
  });

  it("I160 is refused where the directory, or what is recorded of it, is another one", () => {
    using temporary = new Temporary();
    const directory = temporary.directory("a");
    using first = createProjectTrustAuthority({ policy: [{ directory, revision: "r" }] });
    const identity = kept(first, granted(first.authorize(directory)));
    for (const change of [{ inode: "1" }, { device: "1" }, { birthTimeNs: "1" }, { birthTimeNs: "0" }])
      expect(verdictOf(first.reissue({ ...identity, ...change }))).toBe("replaced");
    expect(verdictOf(first.reissue({ ...identity, directory: temporary.path }))).toBe("not_listed");
    renameSync(directory, temporary.at("b"));
    mkdirSync(directory);
    using next = createProjectTrustAuthority({ policy: [entryOf(identity)] });
    expect(verdictOf(next.reissue(read(identity)))).toBe("replaced");
    // An entry that stays is what it was; listed as it is now, it is still not what was recorded.
    next.update([{ directory, revision: "r" }]);
    expect([next.authorize(directory), next.reissue(read(identity))].map(verdictOf)).toEqual(["replaced", "replaced"]);
    next.update([]);
    next.update([{ directory, revision: "r" }]);
    expect([next.authorize(directory), next.reissue(read(identity))].map(verdictOf)).toEqual(["granted", "replaced"]);
  });

  it.each([null, "/", {}, [], { directory: "/" }])("I160 is refused for what is no identity: %o", (value) => {
    using authority = createProjectTrustAuthority({ policy: ["/"] });
    expect(verdictOf(authority.reissue(value))).toBe("malformed_identity");
  });

  it("I160 is refused for an identity with a key too many or a number for text", () => {
    using authority = createProjectTrustAuthority({ policy: [{ directory: "/", revision: "r" }] });
    const identity = kept(authority, granted(authority.authorize("/")));
    for (const value of [
      { ...identity, more: 1 },
      { ...identity, inode: Number(identity.inode) },
      Object.create(identity),
    ])
      expect(verdictOf(authority.reissue(value))).toBe("malformed_identity");
    expect(verdictOf(authority.reissue({ ...identity, revision: 1 }))).toBe("other_revision");
  });
});

describe("a directory whose file system records no birth times", () => {
  it("I160 is held from its listing on, and trusted as long as it is", () => {
    using temporary = new Temporary();
    const directory = temporary.directory("a");
    const calls = withoutBirths(new WatchedCalls());
    const authority = createProjectTrustAuthority({ policy: [{ directory, revision: "r" }], calls });
    expect(calls.descriptors.size).toBe(1);
    const binding = granted(authority.authorize(directory));
    const identity = kept(authority, binding);
    expect(identity.birthTimeNs).toBe("0");
    expect(verdictOf(authority.reissue(read(identity)))).toBe("granted");
    authority.update([entryOf(identity)]);
    expect(verdictOf(authority.validate(binding))).toBe("granted");
    authority.revoke(binding);
    renameSync(directory, temporary.at("b"));
    expect(verdictOf(authority.authorize(directory))).toBe("missing");
    mkdirSync(directory);
    expect(verdictOf(authority.authorize(directory))).toBe("replaced");
    expect(calls.descriptors.size).toBe(1);
    authority.dispose();
    expect(calls.descriptors.size).toBe(0);
  });

  it("I160 is not trusted by the record of an earlier process", () => {
    using temporary = new Temporary();
    const directory = temporary.directory("a");
    const calls = withoutBirths(new WatchedCalls());
    using first = createProjectTrustAuthority({ policy: [{ directory, revision: "r" }], calls });
    const identity = kept(first, granted(first.authorize(directory)));
    using next = createProjectTrustAuthority({ policy: [entryOf(identity)], calls });
    expect([next.authorize(directory), next.reissue(read(identity))].map(verdictOf)).toEqual(["unproven", "unproven"]);
    expect(next.entries()).toMatchObject([{ state: "replaced", reason: "unproven" }]);
    // Trusted again: as it is now. The record of the earlier process still proves nothing before this one has granted
    // it.
    next.update([]);
    next.update([{ directory, revision: "r" }]);
    expect(verdictOf(next.reissue(read(identity)))).toBe("unproven");
    expect(verdictOf(next.authorize(directory))).toBe("granted");
  });
});
