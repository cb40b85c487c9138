import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Home } from "./support/home.ts";

let home: Home;
beforeAll(async () => {
  home = await Home.create();
});
afterAll(async () => await home[Symbol.asyncDispose]());

it("I151 a daemon started within $(…) does not keep the shell waiting", async () => {
  await using own = await Home.open();
  const result = await own.shell('text=$($AGENT daemon start 2>&1); echo "got:$text"');
  expect(result.code).toBe(0);
  expect(result.stdout).toMatch(/^got:.*running/s);
  expect((await own.shell('$AGENT session new | cat; echo "${PIPESTATUS[0]}"')).stdout).toMatch(/\n0\n$/);
});

it("I151 a reader that leaves is met with silence and 0", async () => {
  await home.newSession("long");
  await home.ok(["prompt", "long", "seq 20000"]);
  for (const read of ["session list", "session list --json", "session transcript long", "ps", "--help"]) {
    const { stdout, stderr } = await home.shell(`$AGENT ${read} | head -c 1 >/dev/null; echo "\${PIPESTATUS[0]}"`);
    expect({ read, stdout, stderr }).toEqual({ read, stdout: "0\n", stderr: "" });
  }
});

it("I151 closed standard streams hang and break nothing", async () => {
  await using own = await Home.open();
  const result = await own.shell(
    "$AGENT daemon start <&- >&- 2>&-; echo $?; $AGENT session list <&- >&- 2>&-; echo $?",
  );
  expect(result.stdout).toBe("0\n0\n");
  expect((await own.shell("$AGENT new --name s --prompt 'echo hi' <&-")).stdout).toBe("hi\n");
});

it("errors are a sentence and a hint, with --json one line; never a stack", async () => {
  const plain = await home.agent(["prompt", "absent", "true"]);
  expect([plain.code, plain.stdout]).toEqual([4, ""]);
  expect(plain.stderr).toMatch(/^error: .+\n(hint: .+\n)?$/);
  const json = await home.agent(["session", "show", "absent", "--json"]);
  expect(json.stderr.split("\n")).toHaveLength(2);
  expect(JSON.parse(json.stderr)).toMatchObject({ error: { code: "session_not_found", retryable: false } });
  expect((await home.agent(["nonsense"])).code).toBe(2);
  expect((await home.agent(["session", "list", "--nonsense"])).code).toBe(2);
});

it("I151 a lock and a pipe that the starting shell holds are not kept by the daemon, its workers or their shells", async () => {
  await using own = await Home.open();
  const lock = join(own.files, "lock");
  const line = `( flock 200; $AGENT session new --name s --json ) 200>'${lock}'; flock -n '${lock}' echo free`;
  const { code, stdout } = await own.shell(line);
  expect([code, stdout.split("\n").at(-2)]).toEqual([0, "free"]);
  await own.ok(["daemon", "stop", "--force"]);
  expect(await own.shell("$AGENT daemon start 200>&1 | cat")).toMatchObject({ code: 0 });
});
