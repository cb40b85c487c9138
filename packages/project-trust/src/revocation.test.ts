import { once } from "node:events";
import { renameSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createProjectTrustAuthority } from "./authority.ts";
import { granted, only, verdictOf, watchedAuthority } from "./authority.testing.ts";
import { type Binding, MAX_LISTENERS } from "./bindings.ts";
import { Temporary } from "./temporary.testing.ts";
import type { ProjectTrustAuthority } from "./types.ts";

interface Ending {
  readonly authority: ProjectTrustAuthority;
  readonly binding: Binding;
  readonly temporary: Temporary;
}

const ends: Readonly<Record<string, (ending: Ending) => unknown>> = {
  revoke: ({ authority, binding }) => authority.revoke(binding),
  "no longer listed": ({ authority }) => authority.update([]),
  "another revision": ({ authority, temporary }) => authority.update([{ directory: temporary.at("a"), revision: "s" }]),
  malformed: ({ authority }) => authority.update(["."]),
  dispose: ({ authority }) => authority.dispose(),
  moved: ({ authority, binding, temporary }) => {
    renameSync(temporary.at("a"), temporary.at("b"));
    return authority.validate(binding);
  },
};

describe("a revocation", () => {
  it.each(Object.keys(ends))("I160 is told once, whoever asks again: %s", (how) => {
    using temporary = new Temporary();
    const directory = temporary.directory("a");
    const { authority } = watchedAuthority({ directory, revision: "r" });
    const binding = granted(authority.authorize(directory));
    const told: string[] = [];
    authority.onRevoked(binding, ({ reason }) => told.push(reason));
    expect(told).toEqual([]);
    ends[how]?.({ authority, binding, temporary });
    const reasons: Readonly<Record<string, string>> = {
      malformed: "malformed_policy",
      dispose: "disposed",
      moved: "missing",
    };
    const reason = reasons[how] ?? "revoked";
    expect(told).toEqual([reason]);
    expect([authority.revoke(binding), verdictOf(authority.validate(binding))]).toEqual([
      false,
      how === "malformed" ? "malformed_policy" : reason,
    ]);
    authority.dispose();
    expect(told).toEqual([reason]);
    authority.onRevoked(binding, (revocation) => told.push(`at once: ${revocation.reason}`));
    expect(told).toEqual([reason, `at once: ${reason}`]);
  });

  it("I160 reaches no binding of an entry that a new policy leaves as it is", () => {
    using temporary = new Temporary();
    const [a, b, c] = [temporary.directory("a"), temporary.directory("b"), temporary.directory("c")];
    const { authority, calls } = watchedAuthority({ directory: a, revision: "r" }, b, c);
    const bindings = [a, b, c].map((directory) => granted(authority.authorize(directory)));
    const { revision, ...identity } = only(authority.identityOf(bindings[0]), "identity").identity;
    authority.update([b, { directory: a, revision, identity }]);
    expect(bindings.map((binding) => verdictOf(authority.validate(binding)))).toEqual([
      "granted",
      "granted",
      "revoked",
    ]);
    authority.update([b, { directory: a, revision, identity: { ...identity, inode: "1" } }]);
    expect(bindings.map((binding) => verdictOf(authority.validate(binding)))).toEqual([
      "revoked",
      "granted",
      "revoked",
    ]);
    expect(verdictOf(authority.authorize(a))).toBe("replaced");
    authority.update([{ directory: b, revision: "r" }]);
    expect(verdictOf(authority.validate(bindings[1]))).toBe("revoked");
    expect(calls.descriptors.size).toBe(0);
    authority.dispose();
  });

  it("is not told to a listener that was disposed of, and twice to one that was added twice", () => {
    using temporary = new Temporary();
    using authority = createProjectTrustAuthority({ policy: [temporary.path] });
    const binding = granted(authority.authorize(temporary.path));
    const told: string[] = [];
    const twice = (): void => void told.push("twice");
    authority.onRevoked(binding, twice);
    authority.onRevoked(binding, twice);
    authority.onRevoked(binding, () => told.push("never"))[Symbol.dispose]();
    authority.revoke(binding);
    expect(told).toEqual(["twice", "twice"]);
  });

  it("is not told to a listener that another one disposes of", () => {
    using temporary = new Temporary();
    using authority = createProjectTrustAuthority({ policy: [temporary.path] });
    const binding = granted(authority.authorize(temporary.path));
    const told: string[] = [];
    const others: Disposable[] = [];
    authority.onRevoked(binding, () => {
      told.push("first");
      for (const other of others) other[Symbol.dispose]();
    });
    others.push(authority.onRevoked(binding, () => told.push("second")));
    authority.onRevoked(binding, () => told.push("third"));
    authority.revoke(binding);
    expect(told).toEqual(["first", "third"]);
  });

  it("is told at once for what is no binding", () => {
    using authority = createProjectTrustAuthority({ policy: [] });
    const told: string[] = [];
    authority.onRevoked({}, ({ reason }) => told.push(reason))[Symbol.dispose]();
    expect(told).toEqual(["not_a_binding"]);
  });

  it("is told to the others when a listener throws, whose error shows as uncaught", async () => {
    using temporary = new Temporary();
    using authority = createProjectTrustAuthority({ policy: [temporary.path] });
    const binding = granted(authority.authorize(temporary.path));
    const told: string[] = [];
    const wrong = new Error("a listener's own");
    authority.onRevoked(binding, () => {
      throw wrong;
    });
    authority.onRevoked(binding, () => told.push("told"));
    // The runner's own listeners would fail the run for it.
    const others = process.listeners("uncaughtException");
    process.removeAllListeners("uncaughtException");
    const uncaught = once(process, "uncaughtException");
    try {
      authority.revoke(binding);
      expect(told).toEqual(["told"]);
      expect((await uncaught)[0]).toBe(wrong);
    } finally {
      for (const listener of others) process.on("uncaughtException", listener);
    }
  });

  it("is whole before anybody is told: a listener may call the authority", () => {
    using temporary = new Temporary();
    const [a, b] = [temporary.directory("a"), temporary.directory("b")];
    const { authority, calls } = watchedAuthority(a, b);
    const bindings = [a, a, b].map((directory) => granted(authority.authorize(directory)));
    const seen: unknown[] = [];
    for (const binding of bindings)
      authority.onRevoked(binding, () => {
        seen.push([...bindings.map((each) => verdictOf(authority.validate(each))), calls.descriptors.size]);
        authority.dispose();
      });
    authority.update([b]);
    expect(seen).toEqual([
      ["revoked", "revoked", "granted", 1],
      ["disposed", "disposed", "disposed", 0],
      ["disposed", "disposed", "disposed", 0],
    ]);
  });

  it("has at most 1,000 listeners for one binding", () => {
    using temporary = new Temporary();
    using authority = createProjectTrustAuthority({ policy: [temporary.path] });
    const binding = granted(authority.authorize(temporary.path));
    const listening = Array.from({ length: MAX_LISTENERS }, () => authority.onRevoked(binding, () => {}));
    expect(() => authority.onRevoked(binding, () => {})).toThrow(
      expect.objectContaining({ code: "too_many_listeners" }),
    );
    listening[0]?.[Symbol.dispose]();
    expect(() => authority.onRevoked(binding, () => {})).not.toThrow();
  });
});
