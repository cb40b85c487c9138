import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Home } from "./support/home.ts";
import { errorCode } from "./support/rows.ts";

it("I142 damaged descriptors are quarantined, each for itself", async () => {
  await using home = await Home.open();
  const damage: Record<string, (text: string) => string> = {
    garbage: () => "\u0001garbage{{{",
    empty: () => "",
    truncated: (text) => text.slice(0, Math.floor(text.length / 2)),
    nuls: (text) => "\0".repeat(text.length),
  };
  const good = await home.newSession("good");
  const rows = await Promise.all(Object.keys(damage).map(async (name) => await home.newSession(name)));
  await home.kill(home.daemon());
  for (const row of rows) await home.kill(home.worker(row));
  const written = rows.map(({ sessionId, name }) => {
    const path = home.descriptorPath(sessionId);
    const text = damage[name ?? ""]?.(readFileSync(path, "utf8")) ?? "";
    writeFileSync(path, text);
    return { path, text };
  });
  await home.ok(["daemon", "start"]);
  const states = (await home.list()).map(({ name, sessionId, state }) => [name ?? sessionId, state]);
  expect(Object.fromEntries(states)).toEqual({
    good: "ready",
    garbage: "quarantined",
    empty: "quarantined",
    truncated: "quarantined",
    nuls: "quarantined",
  });
  expect(await home.show("good")).toMatchObject({ pid: good.pid });
  expect((await home.ok(["prompt", "good", "echo fine"])).stdout).toBe("fine\n");
  const refused = await home.agent(["prompt", rows[0]?.sessionId ?? "", "true", "--json"]);
  expect([refused.code, errorCode(refused.stderr)]).toEqual([7, "session_quarantined"]);
  for (const { path, text } of written) expect(readFileSync(path, "utf8")).toBe(text);
});

it("I142 a damaged session.json is a quarantined row, with and without a daemon", async () => {
  await using home = await Home.open();
  const [bad, good] = [await home.newSession("bad"), await home.newSession("good")];
  await home.ok(["stop", "bad"]);
  await home.ok(["daemon", "stop"]);
  const path = join(home.path, "sessions", bad.sessionId, "session.json");
  const text = readFileSync(path, "utf8").slice(0, 100);
  writeFileSync(path, text);
  const expected = {
    [bad.sessionId]: "quarantined",
    [good.sessionId]: expect.stringMatching(/ready|passivated/),
  };
  const states = async (): Promise<object> =>
    Object.fromEntries((await home.list()).map(({ sessionId, state }) => [sessionId, state]));
  expect(await states()).toEqual(expected);
  await home.ok(["daemon", "start"]);
  expect(await states()).toEqual(expected);
  expect((await home.ok(["prompt", "good", "echo fine"])).stdout).toBe("fine\n");
  expect((await home.agent(["session", "resume", bad.sessionId])).code).toBe(7);
  expect(readFileSync(path, "utf8")).toBe(text);
});

it("I140 a damaged journal fails its own session with a reason, and its bytes are kept", async () => {
  await using home = await Home.open();
  const bad = await home.newSession("bad", "--prompt", "echo one");
  const good = await home.newSession("good");
  await home.ok(["prompt", "bad", "echo two"]);
  await home.kill(home.daemon());
  await home.kill(home.worker(bad));
  const directory = join(home.path, "sessions", bad.sessionId, "journal");
  const segment = readdirSync(directory).toSorted().at(-1) ?? "";
  const bytes = readFileSync(join(directory, segment));
  bytes.fill("#", 40, 60);
  writeFileSync(join(directory, segment), bytes);
  await home.ok(["daemon", "start"]);
  const failed = await home.untilState("bad", "failed");
  expect(failed.reason).toMatch(/journal/);
  expect(await home.show("good")).toMatchObject({ state: "ready", pid: good.pid });
  expect((await home.ok(["prompt", "good", "echo fine"])).stdout).toBe("fine\n");
  const kept = readdirSync(directory).map((name) => readFileSync(join(directory, name)));
  expect(kept.some((content) => content.equals(bytes))).toBe(true);
});

it("I93 I140 a journal whose last batch is torn is taken up where it was whole", async () => {
  await using home = await Home.open();
  const row = await home.newSession("torn", "--prompt", "echo one");
  await home.kill(home.daemon());
  await home.kill(home.worker(row));
  const directory = join(home.path, "sessions", row.sessionId, "journal");
  const path = join(directory, readdirSync(directory).toSorted().at(-1) ?? "");
  const text = readFileSync(path, "utf8");
  // What never landed is still the fill.
  writeFileSync(path, text.trimEnd().slice(0, -5).padEnd(text.length, "\n"));
  expect((await home.ok(["prompt", "torn", "echo two"])).stdout).toBe("two\n");
});

it("I71 I140 a journal that was cut short, or whose end is NULs, fails its own session and is kept", async () => {
  await using home = await Home.open();
  const damage: Record<string, (text: string) => string> = {
    cut: (text) => text.trimEnd().slice(0, -5),
    nuls: (text) => text.trimEnd().slice(0, -5).padEnd(text.length, "\0"),
  };
  const written: { readonly path: string; readonly text: string }[] = [];
  for (const [name, change] of Object.entries(damage)) {
    const row = await home.newSession(name, "--prompt", "echo one");
    await home.kill(home.daemon());
    await home.kill(home.worker(row));
    const directory = join(home.path, "sessions", row.sessionId, "journal");
    const path = join(directory, readdirSync(directory).toSorted().at(-1) ?? "");
    const text = change(readFileSync(path, "utf8"));
    writeFileSync(path, text);
    written.push({ path, text });
    await home.ok(["daemon", "start"]);
    expect((await home.untilState(name, "failed")).reason).toMatch(/journal/);
  }
  for (const { path, text } of written) expect(readFileSync(path, "utf8")).toBe(text);
});

it("I140 a torn last line of the transcript costs that line alone", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s", "--prompt", "echo one");
  await home.kill(home.daemon());
  await home.kill(home.worker(row));
  const path = join(home.path, "sessions", row.sessionId, "transcript.jsonl");
  writeFileSync(path, `${readFileSync(path, "utf8")}{"type":"outp`);
  expect((await home.ok(["prompt", "s", "echo two"])).stdout).toBe("two\n");
  const events = await home.transcript("s");
  expect(events.filter(({ type }) => type === "output").map(({ text }) => text)).toEqual(["one\n", "two\n"]);
});
