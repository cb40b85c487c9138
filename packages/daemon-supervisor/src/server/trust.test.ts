import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MethodParams } from "@holdfast/client/protocol";
import { readTrustFile } from "@holdfast/project-trust";
import { replaceFile, syncDirectory } from "@holdfast/recovery-journal";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { trustPath } from "../home.ts";
import { Trust } from "../trust.ts";
import { HOME, World } from "../world.testing.ts";
import type { Services } from "./services.ts";
import { addTrust, removeTrust } from "./trust.ts";

let root: string;
let project: string;
let world: World;
let services: Services;

beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "trust-")));
  project = join(root, "project");
  mkdirSync(project);
  world = await World.create();
  services = world.services();
});
afterEach(async () => {
  await services.requests.close();
  services.trust[Symbol.dispose]();
  rmSync(root, { recursive: true });
});

const add = (requestId: string, directory = project, more: Partial<MethodParams<"trust/add">> = {}) =>
  addTrust(services, { requestId, directory, ...more });
const remove = (requestId: string, directory = project) => removeTrust(services, { requestId, directory });
const listed = () => {
  const file = readTrustFile(world.disk, trustPath(HOME));
  return file.kind === "policy" ? file.directories : file;
};
const revisions = (): string[] => {
  const list = listed();
  return "kind" in list ? [] : list.map(({ revision }) => revision);
};
const granted = (directory = project): string => services.trust.authority.authorize(directory).kind;

/** The supervisor after this one: of the same disk, with nothing in memory. */
async function succeed(): Promise<void> {
  await services.requests.close();
  services.trust[Symbol.dispose]();
  services = world.services();
}

describe("adding", () => {
  it("trusts a directory in the file, then by the authority, and answers its row", async () => {
    const row = { directory: project, addedAt: new Date(world.clock.now()).toISOString(), state: "trusted" };
    expect(granted()).toBe("denied");
    expect(await add("a", project, { via: "./project" })).toEqual({ ...row, via: "./project" });
    expect(listed()).toEqual([expect.objectContaining({ directory: project, via: "./project" })]);
    expect(granted()).toBe("granted");
    await succeed();
    expect(granted()).toBe("granted");
  });

  it("I143 leaves a directory that is trusted as it is, by a repeat and by other requests", async () => {
    const first = await add("a");
    const before = revisions();
    const grant = services.trust.authority.authorize(project);
    world.clock.advance(5_000);
    expect(await add("b")).toEqual(first);
    expect(await add("a")).toEqual(first);
    expect(revisions()).toEqual(before);
    // What was bound before stays bound.
    expect(grant.kind === "granted" && services.trust.authority.validate(grant.binding).kind).toBe("granted");
  });

  it("keeps what is added side by side", async () => {
    await Promise.all([add("a"), add("b", root), add("c", "/")]);
    expect([project, root, "/"].map(granted)).toEqual(["granted", "granted", "granted"]);
    await Promise.all([remove("r", root), remove("s")]);
    expect(listed()).toEqual([expect.objectContaining({ directory: "/" })]);
  });

  it("I160 renews a directory that was replaced, under another revision", async () => {
    await add("a");
    const [before] = revisions();
    const grant = services.trust.authority.authorize(project);
    renameSync(project, join(root, "old"));
    mkdirSync(project);
    expect(granted()).toBe("denied");
    expect((await add("b")).state).toBe("trusted");
    expect(revisions()).toHaveLength(1);
    expect(revisions()).not.toEqual([before]);
    expect(granted()).toBe("granted");
    expect(grant.kind === "granted" && services.trust.authority.validate(grant.binding).kind).toBe("denied");
  });

  it("I160 holds what has no birth time, which nothing proves to the next supervisor", async () => {
    const unborn = "/proc/sys/kernel";
    expect(await add("a", unborn)).toMatchObject({ state: "trusted" });
    const before = revisions();
    await add("b");
    await add("again", unborn);
    expect(revisions()).toEqual([before[0], expect.anything()]);
    expect(granted(unborn)).toBe("granted");
    await succeed();
    expect([granted(unborn), granted()]).toEqual(["denied", "granted"]);
    expect(await add("anew", unborn)).toMatchObject({ state: "trusted" });
    expect(revisions()[0]).not.toBe(before[0]);
    expect(granted(unborn)).toBe("granted");
  });

  it("I47 refuses what is no exact canonical directory, says why and which one is, and writes nothing", async () => {
    symlinkSync(project, join(root, "link"));
    const cases = [
      [join(root, "link"), "not_canonical", `agent trust add ${project}`],
      [`${project}/`, "not_canonical", `agent trust add ${project}`],
      [join(root, "none"), "missing", "agent trust add takes a directory that is there"],
    ] as const;
    for (const [directory, reason, hint] of cases)
      await expect(add(directory, directory)).rejects.toMatchObject({
        code: "unsafe_directory",
        hint,
        data: { reason },
      });
    expect(listed()).toEqual({ kind: "absent" });
  });
});

describe("removing", () => {
  it("takes a directory from the file and the authority, and answers how it was found", async () => {
    const row = await add("a");
    expect(await remove("r")).toEqual({ ...row, removed: true });
    expect(listed()).toEqual([]);
    expect(granted()).toBe("denied");
  });

  it("takes one that has vanished, by its path", async () => {
    await add("a");
    rmSync(project, { recursive: true });
    expect(await remove("r")).toMatchObject({ directory: project, state: "missing", removed: true });
    expect(listed()).toEqual([]);
  });

  it("I143 changes nothing where the directory is not trusted, and answers a repeat as before", async () => {
    expect(await remove("none")).toEqual({ directory: project, removed: false });
    expect(listed()).toEqual({ kind: "absent" });
    await add("a");
    const first = await remove("r");
    expect(await remove("r")).toEqual(first);
    await add("again");
    expect(await remove("r")).toEqual(first);
    expect(granted()).toBe("granted");
    await succeed();
    expect(await remove("r")).toEqual(first);
    expect(granted()).toBe("granted");
  });
});

/** What every disk that a power cut may leave says of the project. */
function afterPowerCut(): string[] {
  const said = [...world.disk.crashStates()].map((state) => {
    const file = readTrustFile(state, trustPath(HOME));
    return file.kind === "policy" ? file.directories.map(() => "trusted") : [file.kind];
  });
  expect(new Set(said.map(String)).size).toBe(1);
  return said[0] ?? [];
}

describe("a list that cannot be changed", () => {
  const malformed = '{"schemaVersion":1,"directories":[{"directory":"/a/"}]}';

  it("I47 is refused whole: nothing is trusted, nothing is added or removed, and the file stays", async () => {
    await add("a");
    replaceFile(world.disk, trustPath(HOME), malformed);
    for (const asked of [add("b"), remove("r")])
      await expect(asked).rejects.toMatchObject({
        code: "invalid_config",
        message: expect.stringContaining(`${trustPath(HOME)}: directories[0]: `),
        hint: expect.stringContaining("move it away"),
      });
    expect(granted()).toBe("denied");
    expect(world.disk.contentOf(trustPath(HOME)).toString()).toBe(malformed);
    using next = new Trust({ ...world.context });
    expect(next.authority.authorize(project).kind).toBe("denied");
  });

  it("is not written by an owner that lost its home", async () => {
    services = { ...services, status: () => "ownership-lost" };
    await expect(add("a")).rejects.toMatchObject({ code: "ownership_lost" });
    await expect(remove("r")).rejects.toMatchObject({ code: "ownership_lost" });
    expect(listed()).toEqual({ kind: "absent" });
  });

  it.each([
    ["of its bytes", { nth: 1 }],
    ["of its name", { pathEnds: HOME }],
  ])("I143 grants nothing while a sync %s fails, and makes it durable at the repeat", async (_of, at) => {
    for (const path of ["/", HOME]) syncDirectory(world.disk, path);
    world.disk.inject({ call: "fsync", errno: "EIO", ...at });
    await expect(add("a")).rejects.toThrow();
    expect(granted()).toBe("denied");
    expect(await add("a")).toMatchObject({ state: "trusted" });
    expect(granted()).toBe("granted");
    expect(afterPowerCut()).toEqual(["trusted"]);
    world.disk.inject({ call: "fsync", errno: "EIO", pathEnds: HOME });
    await expect(remove("r")).rejects.toThrow();
    await succeed();
    // Gone from the list as it is read, and not for certain: that comes before the answer.
    expect(await remove("r")).toEqual({ directory: project, removed: false });
    expect(afterPowerCut()).toEqual([]);
  });
});
