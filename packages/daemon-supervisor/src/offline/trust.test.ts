import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canonicalDirectory, withAdded, writeTrustFile } from "@holdfast/project-trust";
import { nodeFileSystem } from "@holdfast/recovery-journal";
import { systemIds } from "@holdfast/shared-process";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { trustPath } from "../home.ts";
import { judgeTrust } from "./doctor/judge-trust.ts";
import { lookAt } from "./doctor/look.ts";
import { checkTrust, listedIn, projectAt, settingsIn, trustedIn } from "./trust.ts";

const AT = "2030-01-01T00:00:00.000Z";
let root: string;
let home: string;
const at = (path: string): string => join(root, path);

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "trust-")));
  home = at("home");
  for (const folder of ["home", "plain", "tree/.git", "tree/sub"])
    mkdirSync(at(folder), { recursive: true, mode: 0o700 });
  symlinkSync(at("tree"), at("link"));
});
afterEach(() => rmSync(root, { recursive: true }));

function trust(...directories: readonly string[]): void {
  let list: Parameters<typeof withAdded>[0] = [];
  for (const directory of directories) {
    const found = canonicalDirectory(directory);
    if (found.kind === "denied") throw new Error(found.detail);
    list = withAdded(list, { identity: found.identity, revision: systemIds.newId(), addedAt: AT });
  }
  writeTrustFile(nodeFileSystem, trustPath(home), list);
}
const check = (path: string) => checkTrust(home, path);

describe("check", () => {
  it("tells of a directory and its project whether they are trusted", () => {
    trust(at("tree"));
    const project = at("tree");
    for (const directory of [project, at("tree/sub")])
      expect(check(directory)).toEqual({ check: { directory, project, trusted: true, reason: null }, next: null });
    expect(check(`${at("tree")}/`).check).toMatchObject({ directory: project, trusted: true });
    expect(check(at("plain"))).toEqual({
      check: {
        directory: at("plain"),
        project: at("plain"),
        trusted: false,
        reason: `nobody has trusted ${at("plain")}`,
      },
      next: "add",
    });
  });

  it("I47 says of a link where it leads, and of what is not there that it is not", () => {
    trust(at("tree"));
    const reason = expect.stringContaining(`${at("link")} leads to ${at("tree")}: `);
    expect(check(at("link"))).toMatchObject({ check: { project: at("tree"), trusted: false, reason }, next: "check" });
    // As the kernel takes it: above what the link leads to.
    expect(check(`${at("link")}/..`).check).toMatchObject({ directory: root, project: root });
    const missing = `${at("none")} is not there`;
    expect(check(at("none")).check).toEqual({
      directory: at("none"),
      project: null,
      trusted: false,
      reason: missing,
    });
  });

  it("I160 says of a directory that was replaced that it is another one", () => {
    trust(at("plain"));
    renameSync(at("plain"), at("old"));
    mkdirSync(at("plain"));
    const reason = expect.stringContaining("another directory than the one that was trusted");
    expect(check(at("plain")).check).toMatchObject({ trusted: false, reason });
  });

  it("I47 trusts nothing by a malformed list, and names it", () => {
    writeFileSync(trustPath(home), "{");
    const reason = expect.stringContaining(`nothing is trusted: ${trustPath(home)}: `);
    expect(check(at("plain"))).toMatchObject({ check: { trusted: false, reason }, next: "doctor" });
  });
});

describe("the list", () => {
  it("shows each directory as it is found now, and starts nothing where there is no home", () => {
    expect(trustedIn(at("nowhere"))).toEqual([]);
    trust(at("plain"), at("tree"), at("tree/sub"));
    expect(listedIn(home)).toEqual([at("plain"), at("tree"), at("tree/sub")]);
    rmSync(at("tree/sub"), { recursive: true });
    renameSync(at("plain"), at("old"));
    mkdirSync(at("plain"));
    expect(trustedIn(home)).toEqual([
      { directory: at("plain"), addedAt: AT, state: "replaced" },
      { directory: at("tree"), addedAt: AT, state: "trusted" },
      { directory: at("tree/sub"), addedAt: AT, state: "missing" },
    ]);
  });

  it("I47 is refused whole where it is malformed", () => {
    writeFileSync(trustPath(home), '{"schemaVersion":1,"directories":["/"]}');
    for (const read of [trustedIn, listedIn])
      expect(() => read(home)).toThrow(expect.objectContaining({ code: "invalid_config" }));
  });
});

const findings = async () => judgeTrust(await lookAt(home)).map(({ problem }) => problem);

describe("doctor", () => {
  it("I47 has a row for each directory that is not as it was trusted, with the way out, and repairs none", async () => {
    mkdirSync(at("it's here"));
    trust(at("plain"), at("tree"), at("it's here"));
    rmSync(at("plain"), { recursive: true });
    renameSync(at("it's here"), at("old"));
    symlinkSync(at("old"), at("it's here"));
    const quoted = `'${root}/it'\\''s here'`;
    expect(await findings()).toEqual([
      {
        kind: "trust_missing",
        subject: at("plain"),
        reason: expect.stringContaining("not there"),
        repair: expect.stringContaining(`agent trust remove ${at("plain")}`),
      },
      {
        kind: "trust_replaced",
        subject: at("it's here"),
        reason: expect.stringContaining("symbolic link"),
        repair: expect.stringContaining(`agent trust add ${quoted}`),
      },
    ]);
  });

  it("I47 shows a malformed list, and one that cannot be read", async () => {
    writeFileSync(trustPath(home), '{"schemaVersion":2,"directories":[]}');
    expect(await findings()).toMatchObject([{ kind: "trust_malformed", subject: trustPath(home) }]);
    rmSync(trustPath(home));
    symlinkSync(at("plain"), trustPath(home));
    expect(await findings()).toMatchObject([{ kind: "trust_unreadable", subject: trustPath(home) }]);
  });
});

describe("the project at a path", () => {
  it("is the exact one that any spelling leads to", () => {
    for (const spelling of [at("tree"), at("tree/sub"), at("link"), `${at("link")}/sub/`, at("plain/../tree/.")])
      expect(projectAt(spelling)).toMatchObject({ project: at("tree"), by: "git" });
    expect(projectAt(at("none"))).toMatchObject({ kind: "none", missing: true });
  });

  it("I49 names its settings, and opens none", () => {
    expect(settingsIn(at("tree"))).toEqual([]);
    mkdirSync(at("tree/.holdfast"));
    writeFileSync(at("tree/.holdfast/config.json"), "");
    symlinkSync("/nowhere", at("tree/.mcp.json"));
    expect(settingsIn(at("tree"))).toEqual([".holdfast/config.json", ".mcp.json"]);
  });
});
