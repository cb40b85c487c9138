import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Home } from "../support/home.ts";

/** One way through the code of a supervisor, which may die in it anywhere. */
export interface Scenario {
  readonly name: string;
  /** What there is before; made by a predecessor, but for `own request`. */
  readonly prepare: (home: Home) => Promise<unknown>;
  /** Its own start; a forced stop in its place; or what `request` asks of it, with workers that it adopted or started itself. */
  readonly during: "start" | "force-stop" | "request" | "own request";
  /** Happens before the request is sent, and counts as its beginning. */
  readonly before?: (home: Home) => Promise<unknown>;
  /** Sent again under its id when the supervisor is dead, however far it came. */
  readonly request: (home: Home) => readonly string[];
  /** What stands in the end; `absent`: no such session. */
  readonly end: "ready" | "stopped" | "archived" | "passivated" | "absent";
  /** What the session's commands have written in the end. */
  readonly said?: readonly string[];
}

const log = (home: Home): string => join(home.files, "log");
const say = (home: Home, word: string): string => `echo ${word} >> ${log(home)}`;

export const wordsOf = (home: Home): string[] =>
  existsSync(log(home)) ? readFileSync(log(home), "utf8").trim().split("\n") : [];

async function idle(home: Home): Promise<void> {
  await home.newSession("s");
}

/** A turn that does not end by itself, and one that waits behind it. */
async function busy(home: Home): Promise<void> {
  await idle(home);
  await home.ok(["prompt", "s", "--no-wait", `${say(home, "ran")}; sleep 600`]);
  await home.ok(["session", "follow-up", "s", "--no-wait", say(home, "next")]);
}

async function stopped(home: Home): Promise<void> {
  await idle(home);
  await home.ok(["stop", "s"]);
}

const id = ["--request-id", "r"] as const;
const ask =
  (...args: readonly string[]) =>
  (): readonly string[] => [...args, ...id];
const prompt = (home: Home): readonly string[] => ["prompt", "s", say(home, "asked"), ...id];

export const scenarios: readonly Scenario[] = [
  {
    name: "claim",
    prepare: async (home) => await home.ok(["daemon", "start"]),
    during: "start",
    request: ask("session", "new", "--name", "s"),
    end: "ready",
  },
  { name: "adoption", prepare: idle, during: "start", request: prompt, end: "ready", said: ["asked"] },
  {
    name: "launch",
    prepare: async () => await Promise.resolve(),
    during: "own request",
    request: ask("session", "new", "--name", "s"),
    end: "ready",
  },
  {
    name: "recovery",
    prepare: busy,
    during: "request",
    before: async (home) => await home.kill(home.worker(await home.show("s"))),
    request: prompt,
    end: "ready",
    said: ["ran", "next", "asked"],
  },
  { name: "stop", prepare: busy, during: "own request", request: ask("stop", "s"), end: "stopped", said: ["ran"] },
  {
    name: "stop by force",
    prepare: busy,
    during: "request",
    request: ask("stop", "s", "--force"),
    end: "stopped",
    said: ["ran"],
  },
  {
    name: "archive",
    prepare: busy,
    during: "own request",
    request: ask("session", "archive", "s"),
    end: "archived",
    said: ["ran"],
  },
  { name: "resume", prepare: stopped, during: "own request", request: ask("session", "resume", "s"), end: "ready" },
  {
    name: "passivate",
    prepare: idle,
    during: "own request",
    request: ask("session", "passivate", "s"),
    end: "passivated",
  },
  {
    name: "delete",
    prepare: stopped,
    during: "own request",
    request: ask("session", "delete", "s", "--yes"),
    end: "absent",
  },
  {
    name: "maintenance",
    prepare: busy,
    during: "force-stop",
    request: () => ["ps", "--force-stop", "--yes"],
    end: "stopped",
    said: ["ran"],
  },
];
