import { mkdirSync, renameSync, rmdirSync, symlinkSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createProjectTrustAuthority } from "./authority.ts";
import { granted, verdictOf, watchedAuthority } from "./authority.testing.ts";
import { MAX_BINDINGS } from "./bindings.ts";
import { Temporary } from "./temporary.testing.ts";

describe("a binding", () => {
  it("I48 reveals nothing and cannot be changed", () => {
    using temporary = new Temporary();
    using authority = createProjectTrustAuthority({ policy: [temporary.path] });
    const binding = granted(authority.authorize(temporary.path));
    expect([JSON.stringify(binding), Reflect.ownKeys(binding), Object.getPrototypeOf(binding)]).toEqual([
      "{}",
      [],
      null,
    ]);
    expect(Object.isFrozen(binding)).toBe(true);
    expect("toString" in binding).toBe(false);
    expect(Reflect.set(binding, "directory", "/")).toBe(false);
    expect(Reflect.setPrototypeOf(binding, { directory: "/" })).toBe(false);
  });

  it("I48 is one object: no copy, no proxy, no heir and no other authority's is one", () => {
    using temporary = new Temporary();
    using authority = createProjectTrustAuthority({ policy: [temporary.path] });
    using other = createProjectTrustAuthority({ policy: [temporary.path] });
    const binding = granted(authority.authorize(temporary.path));
    const forged: readonly unknown[] = [
      JSON.parse(JSON.stringify(binding)),
      structuredClone(binding),
      { ...binding },
      Object.create(binding),
      new Proxy(binding, {}),
      Object.freeze(Object.create(null)),
      granted(other.authorize(temporary.path)),
      authority,
      temporary.path,
      null,
      undefined,
      0,
      Symbol("binding"),
    ];
    expect(forged.map((value) => verdictOf(authority.validate(value)))).toEqual(forged.map(() => "not_a_binding"));
    expect(forged.map((value) => verdictOf(authority.tokenOf(value)))).toEqual(forged.map(() => "not_a_binding"));
    expect(forged.map((value) => verdictOf(authority.identityOf(value)))).toEqual(forged.map(() => "not_a_binding"));
    expect(forged.map((value) => authority.revoke(value))).toEqual(forged.map(() => false));
    expect(verdictOf(authority.validate(binding))).toBe("granted");
    expect(verdictOf(other.validate(binding))).toBe("not_a_binding");
  });

  it("I48 is another one for each grant", () => {
    using temporary = new Temporary();
    using authority = createProjectTrustAuthority({ policy: [temporary.path] });
    const [first, second] = [1, 2].map(() => granted(authority.authorize(temporary.path)));
    expect(first).not.toBe(second);
    authority.revoke(first);
    expect([authority.validate(first), authority.validate(second)].map(verdictOf)).toEqual(["revoked", "granted"]);
  });

  const changes: Readonly<Record<string, (temporary: Temporary) => void>> = {
    missing: (temporary) => rmdirSync(temporary.at("a", "b")),
    replaced: (temporary) => {
      renameSync(temporary.at("a", "b"), temporary.at("aside"));
      mkdirSync(temporary.at("a", "b"));
    },
    "replaced as a whole with its parent": (temporary) => {
      renameSync(temporary.at("a"), temporary.at("aside"));
      temporary.directory("a", "b");
    },
    symlink: (temporary) => {
      renameSync(temporary.at("a", "b"), temporary.at("aside"));
      symlinkSync(temporary.at("aside"), temporary.at("a", "b"));
    },
    "symlink above": (temporary) => {
      renameSync(temporary.at("a"), temporary.at("aside"));
      symlinkSync("aside", temporary.at("a"));
    },
    not_a_directory: (temporary) => {
      rmdirSync(temporary.at("a", "b"));
      temporary.file("a/b");
    },
  };

  it.each(Object.keys(changes))("I48 I160 is dead for good once its directory was found to be %s", (change) => {
    using temporary = new Temporary();
    const directory = temporary.directory("a", "b");
    const { authority, calls } = watchedAuthority(directory);
    const [binding, second] = [1, 2].map(() => granted(authority.authorize(directory)));
    changes[change]?.(temporary);
    const [reason = ""] = change.split(" ");
    const told: string[] = [];
    authority.onRevoked(binding, (revocation) => told.push(revocation.reason));
    authority.onRevoked(second, (revocation) => told.push(revocation.reason));
    expect(verdictOf(authority.validate(binding))).toBe(reason);
    expect([told, calls.descriptors.size]).toEqual([[reason, reason], 0]);
    expect([binding, second].map((each) => verdictOf(authority.validate(each)))).toEqual([reason, reason]);
    expect(verdictOf(authority.authorize(directory))).toBe(reason);
    authority.dispose();
  });

  it("I160 stays dead when its directory is put back, which can be granted anew", () => {
    using temporary = new Temporary();
    const directory = temporary.directory("a");
    using authority = createProjectTrustAuthority({ policy: [directory] });
    const binding = granted(authority.authorize(directory));
    renameSync(directory, temporary.at("b"));
    expect(verdictOf(authority.authorize(directory))).toBe("missing");
    renameSync(temporary.at("b"), directory);
    const again = authority.authorize(directory);
    expect([authority.validate(binding), again].map(verdictOf)).toEqual(["missing", "granted"]);
    expect(verdictOf(authority.validate(granted(again)))).toBe("granted");
  });

  it("I48 there are at most 10,000, and each that is revoked makes room", () => {
    using temporary = new Temporary();
    using authority = createProjectTrustAuthority({ policy: ["/", temporary.path] });
    const first = granted(authority.authorize(temporary.path));
    for (let count = 1; count < MAX_BINDINGS; count += 1) granted(authority.authorize("/"));
    expect(verdictOf(authority.authorize(temporary.path))).toBe("too_many_bindings");
    authority.revoke(first);
    expect(verdictOf(authority.authorize(temporary.path))).toBe("granted");
    expect(verdictOf(authority.authorize(temporary.path))).toBe("too_many_bindings");
  });
});
