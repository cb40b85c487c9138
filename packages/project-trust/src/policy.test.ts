import { describe, expect, it } from "vitest";
import { identityToJson } from "./identity.ts";
import { MAX_ENTRIES, readPolicy } from "./policy.ts";

const identity = identityToJson({ directory: "/a", device: 1n, inode: 2n, birthTimeNs: 3n });
const entry = { directory: "/a", revision: "r" };

describe("a policy", () => {
  it("is read into entries of its own", () => {
    expect(
      readPolicy(["/b", entry, { directory: "/c", revision: "s", identity: { ...identity, directory: "/c" } }]),
    ).toEqual({
      kind: "policy",
      entries: [
        { directory: "/b", revision: null, identity: null },
        { directory: "/a", revision: "r", identity: null },
        { directory: "/c", revision: "s", identity: { directory: "/c", device: 1n, inode: 2n, birthTimeNs: 3n } },
      ],
    });
    expect(readPolicy([])).toEqual({ kind: "policy", entries: [] });
  });

  it.each([
    ["an empty path", ["/x", ""], 1, "not_absolute"],
    ["a relative path", ["/x", "a"], 1, "not_absolute"],
    ["..", ["/x/.."], 0, "not_canonical"],
    ["a slash at the end", ["/x", "/y", "/z/"], 2, "not_canonical"],
    ["a NUL", ["/x\0"], 0, "nul"],
    ["no string", ["/x", 7], 1, "not an object"],
    ["nothing", ["/x", undefined], 1, "not an object"],
    ["a number as directory", [{ directory: 7, revision: "r" }], 0, "not_a_string"],
    ["no revision", [{ directory: "/a" }], 0, "revision"],
    ["an empty revision", [{ directory: "/a", revision: "" }], 0, "revision"],
    ["a long revision", [{ directory: "/a", revision: "r".repeat(129) }], 0, "revision"],
    ["a misspelt key", [{ ...entry, identiy: identity }], 0, '"identiy"'],
    ["a symbol as key", [{ ...entry, [Symbol("identity")]: identity }], 0, "a symbol"],
    ["a path that is there twice", ["/x", "/y", "/x"], 2, "entry 0"],
    ["a path that is there in both forms", ["/a", entry], 1, "entry 0"],
    ["a bad identity", [{ ...entry, identity: {} }], 0, "identity"],
    ["the identity null", [{ ...entry, identity: null }], 0, "identity"],
    ["another directory's identity", [{ ...entry, directory: "/b", identity }], 0, "another directory"],
    // oxlint-disable-next-line no-sparse-arrays -- a hole is what is refused
    ["a hole", ["/x", , "/y"], 1, "missing"],
  ])("I47 is refused whole for %s, and says where", (_case, policy, index, why) => {
    expect(readPolicy(policy)).toMatchObject({
      kind: "malformed",
      fault: { index, why: expect.stringContaining(why) },
    });
  });

  it.each([
    ["no array", { 0: "/a", length: 1 }, "not an array"],
    ["nothing", undefined, "not an array"],
    ["a text", "/a", "not an array"],
    ["too many", Array.from({ length: MAX_ENTRIES + 1 }, (_, at) => `/${at}`), "1024"],
  ])("I47 is refused whole as %s", (_case, policy, why) => {
    expect(readPolicy(policy)).toMatchObject({
      kind: "malformed",
      fault: { index: null, why: expect.stringContaining(why) },
    });
  });

  it("I47 takes as many as there may be", () => {
    expect(readPolicy(Array.from({ length: MAX_ENTRIES }, (_, at) => `/${at}`)).kind).toBe("policy");
  });

  it("I47 has no getters asked", () => {
    let asked = 0;
    const get = (): string => `/${(asked += 1)}`;
    const inEntry = Object.defineProperty({ revision: "r" }, "directory", { get, enumerable: true });
    const inList = Object.defineProperty(["/x"], 0, { get, enumerable: true });
    // What is asked for is optional here: left out in silence, it would be taken from the disk.
    const inIdentity = Object.defineProperty({ ...entry }, "identity", { get, enumerable: true });
    for (const policy of [[inEntry], [inIdentity], inList])
      expect(readPolicy(policy)).toMatchObject({ kind: "malformed", fault: { index: 0 } });
    expect(asked).toBe(0);
  });

  it("I47 asks a proxy once for each value", () => {
    const asked: PropertyKey[] = [];
    const changing = new Proxy(
      { directory: "/a", revision: "r" },
      {
        getOwnPropertyDescriptor: (target, key) => {
          asked.push(key);
          const value = `${String(Reflect.get(target, key))}${asked.length > 3 ? "changed" : ""}`;
          return { value, enumerable: true, configurable: true, writable: true };
        },
        get: () => expect.unreachable("what is read by `get` may answer anything"),
      },
    );
    // Of a key that is not there the proxy must not claim a descriptor: its invariants are the language's.
    const list = [{ ...entry, directory: "/b" }, changing];
    expect(readPolicy(list)).toMatchObject({ kind: "malformed", fault: { index: 1, why: "its identity is none" } });
    expect(asked).toEqual(["directory", "revision", "identity"]);
  });

  it("I47 is refused when it cannot be read", () => {
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    const list = Proxy.revocable([], {});
    list.revoke();
    expect(readPolicy([revoked.proxy])).toMatchObject({
      kind: "malformed",
      fault: { index: 0, why: "it cannot be read" },
    });
    expect(readPolicy(list.proxy)).toMatchObject({
      kind: "malformed",
      fault: { index: null, why: "it cannot be read" },
    });
  });

  it("I47 takes nothing from prototypes", () => {
    expect(readPolicy([Object.create(entry)])).toMatchObject({ kind: "malformed", fault: { index: 0 } });
  });
});
