import { describe, expect, it } from "vitest";
import { because, engines, fixture, obstacle, temporaryDirectory } from "./support/fixture.ts";
import { PrivateMounts } from "./support/private-mounts.ts";
import { outputOf } from "./support/output-of.ts";

interface Full {
  readonly begin: {
    readonly codes: readonly string[];
    readonly errno: string;
    readonly begun: readonly string[];
    readonly whileFull: readonly string[];
  };
  readonly ends: readonly string[];
  readonly afterEnds: readonly string[];
  readonly replace: object;
  readonly line: { readonly endsWhole: boolean };
  readonly afterwards: readonly string[];
  readonly newText: string;
  readonly lastLines: readonly string[];
  readonly reopened: readonly string[];
}

const full = (root: string, how: string, engine: string): readonly string[] => [
  process.execPath,
  fixture("full.mjs"),
  JSON.stringify({ root, how, engine }),
];

async function onSmallDisk(engine: string): Promise<Full> {
  await using mounts = await PrivateMounts.open();
  mounts.run("mount", "-t", "tmpfs", "-o", "size=256k,mode=0700", "tmpfs", "/mnt");
  return JSON.parse(outputOf(mounts.inside(...full("/mnt", "filler", engine))));
}

/** The least limit at which there can be a journal: the size of the smallest segment. */
const LIMIT_BYTES = 16_384;

async function underLimit(engine: string): Promise<Full> {
  using root = temporaryDirectory();
  return JSON.parse(outputOf(["prlimit", `--fsize=${LIMIT_BYTES}:unlimited`, ...full(root.path, "limit", engine)]));
}

const rooms = [
  { name: "a tmpfs that is full", errno: "ENOSPC", needs: ["unshare", "nsenter", "mount"], run: onSmallDisk },
  { name: "a limit on the size of a file", errno: "EFBIG", needs: ["prlimit"], run: underLimit },
] as const;

describe.each(rooms)("without room: $name, $errno", ({ errno, needs, run }) => {
  const reason = obstacle(...needs);
  it.skipIf(reason !== null).each(engines)(
    `I141 I168 a journal refuses begins, ends work, stays valid and serves again by itself: %s${because(reason)}`,
    async (engine) => {
      const { begin, ends, afterEnds, afterwards, reopened } = await run(engine);
      expect(begin).toMatchObject({ codes: ["disk_full", "disk_full"], errno });
      // Some while there was room, and some in the room that the segment still had.
      expect(begin.begun).toEqual(expect.arrayContaining(["before-3", "full-0"]));
      expect(begin.whileFull).toEqual(begin.begun);
      expect(ends).toEqual(begin.begun.slice(1).map(() => "ended"));
      expect(afterEnds).toEqual(["before-0"]);
      expect([afterwards, reopened]).toEqual([
        ["before-0", "after"],
        ["before-0", "after"],
      ]);
    },
  );

  it.skipIf(reason !== null)(
    `I69 I109 I141 a replaced file keeps its old bytes and has no temporary beside it${because(reason)}`,
    async () => {
      const { replace, newText } = await run("inline");
      const names = ["journal", "log", "state"];
      expect(replace).toEqual({ code: "not_replaced", errno, text: "old", names, journalNames: ["e00000001.jsonl"] });
      expect(newText).toBe("new");
    },
  );

  it.skipIf(reason !== null)(
    `I93 I140 I141 a line log ends with a whole line and takes the next${because(reason)}`,
    async () => {
      const { line, lastLines } = await run("inline");
      expect(line).toMatchObject({ code: "disk_full", errno, endsWhole: true });
      expect(lastLines).toEqual(["last", ""]);
    },
  );
});

describe("a write within a segment that is cut off", () => {
  const reason = obstacle("prlimit");
  it.skipIf(reason !== null).each(engines)(
    `I141 leaves nothing that was refused to be found, and the journal serves again by itself: %s${because(reason)}`,
    (engine) => {
      using root = temporaryDirectory();
      const directory = `${root.path}/journal`;
      const spec = JSON.stringify({ directory, engine });
      expect(JSON.parse(outputOf([process.execPath, fixture("cut-short.mjs"), spec]))).toEqual({
        before: "begun",
        refused: [
          ["disk_full", "EFBIG"],
          ["disk_full", "EFBIG"],
        ],
        after: { state: "live", read: ["before"] },
        again: "begun",
        read: ["before", "again"],
      });
    },
  );
});
