import { fstatSync, openSync } from "node:fs";
import { expect, it } from "vitest";
import { createEpoll } from "./epoll.ts";

it("I155 leaves no descriptor open when the library cannot poll", () => {
  const made: number[] = [];
  const functions: Record<string, () => number> = {
    epoll_create1: () => {
      made.push(openSync("/dev/null", "r"));
      return made.at(-1) ?? -1;
    },
  };
  const epoll = createEpoll({
    load: () => ({ func: (signature) => functions[/(\w+)\(/.exec(signature)?.[1] ?? ""] ?? (() => 0) }),
    errno: () => 0,
    os: { errno: {} },
    node: {
      poll: () => {
        throw new Error("not now");
      },
    },
  });
  expect(() => epoll.watch(0, "ended", () => {})).toThrow("not now");
  expect(made).toHaveLength(1);
  expect(() => fstatSync(made[0] ?? -1)).toThrow("EBADF");
});
