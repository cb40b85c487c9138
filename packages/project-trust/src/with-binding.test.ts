import { EventEmitter, once } from "node:events";
import { mkdirSync, readdirSync, realpathSync, renameSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createProjectTrustAuthority } from "./authority.ts";
import { granted, only, verdictOf, watchedAuthority } from "./authority.testing.ts";
import { Temporary } from "./temporary.testing.ts";
import type { TrustedRoot } from "./trusted-root.ts";

const never = (): never => expect.unreachable();

describe("an operation with a binding", () => {
  it("I48 is run in the trusted directory, and its value passed on", async () => {
    using temporary = new Temporary();
    temporary.file("a/config", "content");
    const { authority, calls } = watchedAuthority(temporary.at("a"));
    const binding = granted(authority.authorize(temporary.at("a")));
    const done = await authority.withBinding(binding, async (root, { signal }) => {
      await Promise.resolve();
      const read = root.readFile("config");
      return [read.kind === "file" ? read.bytes.toString() : read, readdirSync(root.cwd), signal.aborted];
    });
    expect(done).toEqual({ kind: "done", value: ["content", ["config"], false] });
    expect(calls.descriptors.size).toBe(1);
    authority.dispose();
    expect(calls.descriptors.size).toBe(0);
  });

  it("I48 is not run for what is no binding, nor for a directory that has changed", async () => {
    using temporary = new Temporary();
    const directory = temporary.directory("a");
    using authority = createProjectTrustAuthority({ policy: [directory] });
    const binding = granted(authority.authorize(directory));
    expect(verdictOf(await authority.withBinding({}, never))).toBe("not_a_binding");
    renameSync(directory, temporary.at("b"));
    expect(verdictOf(await authority.withBinding(binding, never))).toBe("missing");
  });

  it("I48 I160 loses its value when the directory was replaced meanwhile, and never read the other one", async () => {
    using temporary = new Temporary();
    temporary.file("a/config", "genuine");
    temporary.file("b/config", "foreign");
    using authority = createProjectTrustAuthority({ policy: [temporary.at("a")] });
    const binding = granted(authority.authorize(temporary.at("a")));
    let read: unknown;
    const outcome = await authority.withBinding(binding, (root) => {
      renameSync(temporary.at("a"), temporary.at("aside"));
      renameSync(temporary.at("b"), temporary.at("a"));
      expect(realpathSync(root.cwd)).toBe(temporary.at("aside"));
      const file = root.readFile("config");
      read = file.kind === "file" ? file.bytes.toString() : file;
      return "a value";
    });
    expect([read, verdictOf(outcome), "value" in outcome]).toEqual(["genuine", "replaced", false]);
  });

  it("passes what it throws on, and ends its root all the same", async () => {
    using temporary = new Temporary();
    const { authority, calls } = watchedAuthority(temporary.path);
    const binding = granted(authority.authorize(temporary.path));
    const wrong = new Error("the operation's own");
    let root: TrustedRoot | null = null;
    const thrown = authority.withBinding(binding, (given) => {
      root = given;
      throw wrong;
    });
    await expect(thrown).rejects.toBe(wrong);
    expect(readAll(root)).toEqual(ENDED);
    authority.dispose();
    expect(calls.descriptors.size).toBe(0);
  });

  it("I48 leaves a root that answers nothing when it has settled", async () => {
    using temporary = new Temporary();
    temporary.file("config");
    using authority = createProjectTrustAuthority({ policy: [temporary.path] });
    const binding = granted(authority.authorize(temporary.path));
    const done = await authority.withBinding(binding, (root) => [root, readAll(root)] as const);
    const [root, during] = only(done, "done").value;
    expect(during).toEqual(["file", "directory", "readable"]);
    expect(readAll(root)).toEqual(ENDED);
  });

  it.each(["revoke", "update", "dispose"] as const)(
    "I122 I160 is told of its binding's end at once, and its descriptor's number becomes no other file's: %s",
    async (how) => {
      using temporary = new Temporary();
      temporary.file("config");
      const { authority, calls } = watchedAuthority(temporary.path);
      const binding = granted(authority.authorize(temporary.path));
      const outcome = await authority.withBinding(binding, async (root, { signal }) => {
        const { cwd } = root;
        const aborted = once(signal, "abort");
        if (how === "revoke") authority.revoke(binding);
        if (how === "update") authority.update([]);
        if (how === "dispose") authority.dispose();
        await aborted;
        expect(readAll(root)).toEqual(ENDED);
        expect(realpathSync(cwd)).toBe(temporary.path);
      });
      expect([verdictOf(outcome), calls.descriptors.size]).toEqual([how === "dispose" ? "disposed" : "revoked", 0]);
      authority.dispose();
    },
  );

  it("I160 is told when somebody else's validation finds the directory changed", async () => {
    using temporary = new Temporary();
    const directory = temporary.directory("a");
    using authority = createProjectTrustAuthority({ policy: [directory] });
    const [binding, other] = [1, 2].map(() => granted(authority.authorize(directory)));
    const outcome = await authority.withBinding(binding, async (_root, { signal }) => {
      renameSync(directory, temporary.at("b"));
      mkdirSync(directory);
      authority.validate(other);
      return signal.aborted;
    });
    expect(verdictOf(outcome)).toBe("replaced");
  });

  it("runs beside others of its binding, each with a root of its own", async () => {
    using temporary = new Temporary();
    temporary.file("config");
    const { authority, calls } = watchedAuthority(temporary.path);
    const binding = granted(authority.authorize(temporary.path));
    let first: TrustedRoot | null = null;
    const second = new EventEmitter();
    const running = authority.withBinding(binding, async (root) => {
      first = root;
      await once(second, "done");
      return readAll(root);
    });
    await authority.withBinding(binding, () => {});
    expect(readAll(first)).toEqual(["file", "directory", "readable"]);
    second.emit("done");
    expect(await running).toEqual({ kind: "done", value: ["file", "directory", "readable"] });
    expect([readAll(first), calls.descriptors.size]).toEqual([ENDED, 1]);
    authority.dispose();
  });
});

const ENDED = ["ended", "ended", "trust_ended"];

function readAll(root: TrustedRoot | null): readonly unknown[] {
  if (root === null) throw new Error("there was no root");
  return [verdictOf(root.readFile("config")), verdictOf(root.list()), cwdOf(root)];
}

function cwdOf(root: TrustedRoot): unknown {
  try {
    readdirSync(root.cwd);
    return "readable";
  } catch (error) {
    return error instanceof Error && "code" in error ? error.code : error;
  }
}
