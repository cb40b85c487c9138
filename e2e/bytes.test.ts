import { afterAll, beforeAll, expect, it } from "vitest";
import { Home } from "./support/home.ts";

const odd = "\u2028\u2029\u0085\rone\r\n😀é\ttab\u0007 \ufeffend";

let home: Home;
beforeAll(async () => {
  home = await Home.create();
});
afterAll(async () => await home[Symbol.asyncDispose]());

it("I150 standard input reaches the shell unchanged and the output comes back unchanged", async () => {
  await home.newSession("input");
  const text = `printf '%s' '${odd}'`;
  const result = await home.ok(["prompt", "input", "-"], { input: text });
  expect(result.stdout).toBe(odd);
  const accepted = (await home.transcript("input")).find(({ type }) => type === "prompt_accepted");
  expect(accepted?.text).toBe(text);
});

it("I150 an argument keeps its separators, and a heredoc its lines", async () => {
  await home.newSession("argument");
  expect((await home.ok(["prompt", "argument", "cat <<'X'\na\u2028b\rc\nX\n"])).stdout).toBe("a\u2028b\rc\n");
});

it("I150 a megabyte of four-byte characters passes whole", async () => {
  await home.newSession("megabyte");
  const emoji = "😀".repeat(250_000);
  const { stdout } = await home.ok(["prompt", "megabyte", "-"], { input: `cat <<'X'\n${emoji}\nX\n` });
  expect(stdout === `${emoji}\n`).toBe(true);
});

it("I150 a NUL and bytes that are not UTF-8 in a prompt are refused, nothing is run", async () => {
  await home.newSession("refused");
  expect(await home.agent(["prompt", "refused", "-"], { input: "echo a\0b" })).toMatchObject({ code: 2, stdout: "" });
  const latin = Buffer.from("echo \xe9", "latin1");
  expect(await home.agent(["prompt", "refused", "-"], { input: latin })).toMatchObject({ code: 2, stdout: "" });
  expect((await home.transcript("refused")).filter(({ type }) => type === "turn_started")).toEqual([]);
});

it("I150 output that is not UTF-8 arrives byte for byte", async () => {
  await home.newSession("latin");
  const { stdoutBytes } = await home.ok(["prompt", "latin", String.raw`printf 'a\xff\xfe\x80\xc3(\xf0\x9f\x98z\0end'`]);
  expect(stdoutBytes.toString("latin1")).toBe("a\xff\xfe\x80\xc3(\xf0\x9f\x98z\0end");
});

it("I150 a code point split over two writes is one character", async () => {
  await home.newSession("split");
  const slowly = String.raw`printf '\xf0\x9f'; sleep 0.3; printf '\x98\x80'`;
  expect((await home.ok(["prompt", "split", slowly])).stdout).toBe("😀");
});
