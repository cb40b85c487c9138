import { fstatSync, openSync } from "node:fs";
import { expect, it } from "vitest";
import { createEpoll, type Epoll } from "./epoll.ts";
import type { Koffi } from "./koffi.ts";

type Call = ReturnType<ReturnType<Koffi["load"]>["func"]>;

/** Calls that are not given succeed. */
function epollOf(calls: Readonly<Record<string, Call>>, poll: Koffi["node"]["poll"]): Epoll {
  return createEpoll({
    load: () => ({ func: (signature) => calls[/(\w+)\(/.exec(signature)?.[1] ?? ""] ?? (() => 0) }),
    errno: () => 0,
    os: { errno: {} },
    node: { poll },
  });
}

it("I155 leaves no descriptor open when the library cannot poll", () => {
  const made: number[] = [];
  const create = (): number => {
    made.push(openSync("/dev/null", "r"));
    return made.at(-1) ?? -1;
  };
  const epoll = epollOf({ epoll_create1: create }, () => {
    throw new Error("not now");
  });
  expect(() => epoll.watch(0, "ended", () => {})).toThrow("not now");
  expect(made).toHaveLength(1);
  expect(() => fstatSync(made[0] ?? -1)).toThrow("EBADF");
});

it("tells the others when one callback throws, and nothing of a watch that an earlier callback has let go", async () => {
  const added: Uint8Array[] = [];
  const control: Call = (_epoll, _operation, _fd, event) => {
    if (event instanceof Uint8Array) added.push(event);
    return 0;
  };
  const wait: Call = (_epoll, events) => {
    const ready = added.splice(0);
    if (events instanceof Int32Array) Buffer.concat(ready).copy(new Uint8Array(events.buffer));
    return ready.length;
  };
  const wakes: (() => void)[] = [];
  const epoll = epollOf({ epoll_ctl: control, epoll_wait: wait }, (_fd, _options, callback) => {
    wakes.push(() => callback(0));
    return { unref: () => {} };
  });
  const thrown: unknown[] = [];
  process.once("uncaughtException", (error) => thrown.push(error));
  const told: string[] = [];
  epoll.watch(0, "ended", () => {
    throw new Error("of the first");
  });
  epoll.watch(1, "ended", () => {
    told.push("second");
    third[Symbol.dispose]();
  });
  const third = epoll.watch(2, "ended", () => void told.push("third"));
  epoll.watch(3, "ended", () => void told.push("fourth"));
  for (const wake of wakes) wake();
  expect(told).toEqual(["second", "fourth"]);
  await expect.poll(() => thrown).toEqual([new Error("of the first")]);
});
