import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { Home } from "./support/home.ts";
import { errorCode, parseRow } from "./support/rows.ts";
import { waitFor } from "./support/wait-for.ts";

const bad = ["..", ".", "/", "a/b", "../x", "-x", "a\nb", "", " ", "x".repeat(300), "ü", "a b"];

it("I148 names that could be paths, options or lines are refused before the home exists", async () => {
  await using home = await Home.open();
  for (const name of bad) {
    const { code, stdout } = await home.agent(["session", "new", `--name=${name}`]);
    expect({ name, code, stdout }).toEqual({ name, code: 2, stdout: "" });
  }
  expect(existsSync(home.path)).toBe(false);
});

it("I148 a rename takes no name that new would refuse, and leaves the session as it is", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s");
  await home.newSession("taken");
  for (const name of bad) {
    const { code, stdout } = await home.agent(["session", "rename", "--", "s", name]);
    expect({ name, code, stdout }).toEqual({ name, code: 2, stdout: "" });
  }
  const taken = await home.agent(["session", "rename", "s", "taken", "--json"]);
  expect([taken.code, errorCode(taken.stderr)]).toEqual([5, "name_in_use"]);
  expect(await home.show("s")).toMatchObject({ sessionId: row.sessionId, state: "ready" });
}, 60_000);

it("a resume during a stop with archive does not come back under a name that was taken meanwhile", async () => {
  await using home = await Home.open();
  const first = await home.newSession("n");
  home.freeze(home.worker(first));
  expect((await home.agent(["stop", "n", "--archive", "--no-wait"])).code).toBe(8);
  await home.newSession("n");
  const refused = await home.agent(["session", "resume", first.sessionId, "--json"]);
  expect([refused.code, errorCode(refused.stderr)]).toEqual([5, "name_in_use"]);
  // The first one is listed as long as it stops.
  await waitFor(async () => (await home.list()).length === 1, "one session of that name is left");
});

it("a name that was taken while its session was archived keeps it from coming back under it", async () => {
  await using home = await Home.open();
  const first = await home.newSession("n");
  await home.ok(["session", "archive", "n"]);
  await home.newSession("n");
  for (const verb of ["unarchive", "resume"]) {
    const refused = await home.agent(["session", verb, first.sessionId, "--json"]);
    expect([verb, refused.code, errorCode(refused.stderr)]).toEqual([verb, 5, "name_in_use"]);
  }
  await home.ok(["session", "rename", first.sessionId, "older"]);
  expect(parseRow((await home.ok(["session", "resume", "older", "--json"])).stdout).state).toBe("ready");
});

it("I148 selectors that name nothing are 2 or 4, whatever they look like", async () => {
  await using home = await Home.open();
  await home.newSession("s");
  const verbs = ["show", "stop", "resume", "archive", "logs"];
  // Each once; `select` is tested with all of them, whoever asks.
  for (const [index, name] of bad.entries()) {
    const verb = verbs[index % verbs.length] ?? "show";
    const { code, stdout } = await home.agent(["session", verb, "--", name]);
    expect({ verb, name, refused: code === 2 || code === 4, stdout }).toEqual({
      verb,
      name,
      refused: true,
      stdout: "",
    });
  }
  expect((await home.show("s")).state).toBe("ready");
});

it("an ambiguous prefix is a conflict, the name goes before it, the whole id is exact", async () => {
  await using home = await Home.open();
  const [a, b] = [await home.newSession("a"), await home.newSession("b")];
  const common = a.sessionId.slice(0, 6);
  expect(b.sessionId.startsWith(common)).toBe(true);
  const ambiguous = await home.agent(["session", "show", common, "--json"]);
  expect([ambiguous.code, errorCode(ambiguous.stderr)]).toEqual([5, "ambiguous"]);
  expect((await home.show(a.sessionId.slice(-8))).name).toBe("a");
  expect((await home.show(b.sessionId)).name).toBe("b");
  expect((await home.agent(["session", "show", a.sessionId.slice(-3)])).code).toBe(4);
  const third = await home.newSession(common);
  expect((await home.show(common)).sessionId).toBe(third.sessionId);
});

it("a name is unique until its session is archived; --ensure takes the one that is there", async () => {
  await using home = await Home.open();
  const first = await home.newSession("n");
  const again = await home.agent(["session", "new", "--name", "n", "--json"]);
  expect([again.code, errorCode(again.stderr)]).toEqual([5, "name_in_use"]);
  expect(await home.newSession("n", "--ensure")).toMatchObject({ sessionId: first.sessionId, created: false });
  const elsewhere = await home.agent(["session", "new", "--name", "n", "--ensure", "--cwd", "/usr", "--json"]);
  expect([elsewhere.code, errorCode(elsewhere.stderr)]).toEqual([5, "name_in_use"]);
  await home.ok(["stop", "n", "--archive"]);
  expect((await home.newSession("n")).sessionId).not.toBe(first.sessionId);
});
