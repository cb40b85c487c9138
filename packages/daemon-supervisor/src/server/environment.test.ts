import { expect, it } from "vitest";
import { checkEnvironment } from "./environment.ts";

const usage = expect.objectContaining({ code: "usage" });

it("takes what a shell can hold", () => {
  expect(() => checkEnvironment({ PATH: "/bin" }, { KEY: "", _x1: "ü\n" })).not.toThrow();
});

it.each(["", "1A", "A=B", "A B", "HOLDFAST_SESSION", "HOLDFAST_HOME"])(
  "I153 refuses %j as a name given by hand",
  (name) => {
    expect(() => checkEnvironment({}, { [name]: "x" })).toThrow(usage);
  },
);

it("refuses a NUL in any value", () => {
  expect(() => checkEnvironment({ PATH: "a\0b" })).toThrow(usage);
  expect(() => checkEnvironment({}, { KEY: "a\0b" })).toThrow(usage);
});
