import { describe, expect, it } from "vitest";
import type { ExitInfo } from "../types.ts";
import { ExitNotice } from "./notice.ts";

const EXIT: ExitInfo = { at: 1, status: { code: 3 } };

interface Watched {
  readonly notice: ExitNotice;
  /** What has happened to the watch, in order. */
  readonly log: string[];
  readonly end: (exit?: ExitInfo) => void;
}

function watched(): Watched {
  const log: string[] = [];
  let tell: ((exit: ExitInfo) => void) | null = null;
  const notice = new ExitNotice((ended) => {
    log.push("watched");
    tell = ended;
    return { [Symbol.dispose]: () => void log.push("let go") };
  });
  return { notice, log, end: (exit = EXIT) => tell?.(exit) };
}

const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

describe("ExitNotice", () => {
  it("watches with the first question and never twice", () => {
    const { notice, log } = watched();
    expect(log).toEqual([]);
    notice.onExit(() => {});
    notice.onExit(() => {});
    void notice.exited;
    notice.begin();
    expect(log).toEqual(["watched"]);
  });

  it("tells each who asks once, in order, and the promise with them", async () => {
    const { notice, end } = watched();
    const told: unknown[] = [];
    const callback = (exit: ExitInfo): void => void told.push(exit);
    notice.onExit(callback);
    notice.onExit(callback);
    const { exited } = notice;
    end();
    end({ at: 2, status: null });
    expect(told).toEqual([EXIT, EXIT]);
    expect(await exited).toBe(EXIT);
    expect(notice.exited).toBe(exited);
  });

  it("tells nobody who has taken the question back, and forgets one of two equal questions", () => {
    const { notice, end } = watched();
    let told = 0;
    const callback = (): void => void (told += 1);
    notice.onExit(callback)[Symbol.dispose]();
    notice.onExit(callback);
    end();
    expect(told).toBe(1);
  });

  it("tells an end that is known in a later microtask, also after disposal, and not to who has taken it back", async () => {
    const { notice, end } = watched();
    notice.begin();
    end();
    notice[Symbol.dispose]();
    const told: unknown[] = [];
    notice.onExit((exit) => told.push(exit));
    notice.onExit((exit) => told.push(exit))[Symbol.dispose]();
    expect(told).toEqual([]);
    await nextTurn();
    expect(told).toEqual([EXIT]);
    expect(await notice.exited).toBe(EXIT);
  });

  it("lets go of the watch when it is disposed of, tells nothing then, and watches nothing more", async () => {
    const { notice, log, end } = watched();
    const told: unknown[] = [];
    notice.onExit((exit) => told.push(exit));
    notice[Symbol.dispose]();
    end();
    await nextTurn();
    expect(log).toEqual(["watched", "let go"]);
    expect(told).toEqual([]);
    const unasked = watched();
    unasked.notice[Symbol.dispose]();
    unasked.notice.onExit((exit) => told.push(exit));
    void unasked.notice.exited;
    expect(unasked.log).toEqual([]);
  });

  it("may be disposed of by the one who is told, and tells the others all the same", () => {
    const { notice, end } = watched();
    const told: string[] = [];
    notice.onExit(() => {
      told.push("first");
      notice[Symbol.dispose]();
    });
    notice.onExit(() => void told.push("second"));
    end();
    expect(told).toEqual(["first", "second"]);
  });
});
