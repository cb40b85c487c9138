import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { checkHome, homeOf } from "./home.ts";

const cwd = (): string => "/somewhere";
const env = { HOLDFAST_HOME: "/from-env", XDG_STATE_HOME: "/state", HOME: "/home/me" };

it("takes the option, then HOLDFAST_HOME, then the XDG directory, then the user's own", () => {
  expect(homeOf("/given", env, cwd)).toBe("/given");
  expect(homeOf(undefined, env, cwd)).toBe("/from-env");
  expect(homeOf(undefined, { ...env, HOLDFAST_HOME: "" }, cwd)).toBe("/state/holdfast");
  expect(homeOf(undefined, { HOME: "/home/me" }, cwd)).toBe("/home/me/.local/state/holdfast");
});

it("makes it absolute and plain", () => {
  expect(homeOf("here/../there/", env, cwd)).toBe("/somewhere/there");
  expect(homeOf(undefined, { HOLDFAST_HOME: "rel" }, cwd)).toBe("/somewhere/rel");
});

it("ignores a relative XDG directory and refuses an empty option", () => {
  expect(homeOf(undefined, { XDG_STATE_HOME: "rel", HOME: "/h" }, cwd)).toBe("/h/.local/state/holdfast");
  expect(() => homeOf("", env, cwd)).toThrow(expect.objectContaining({ code: "usage" }));
});

it("refuses a file and what would lie below one, and takes a directory that is not there yet", () => {
  const file = fileURLToPath(import.meta.url);
  for (const path of [file, join(file, "below")]) expect(() => checkHome(path)).toThrow(`${path} is not a directory`);
  expect(checkHome(dirname(file))).toBe(dirname(file));
  expect(checkHome(join(dirname(file), "nowhere"))).toBe(join(dirname(file), "nowhere"));
});
