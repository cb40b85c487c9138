import { afterAll, describe, expect, it } from "vitest";
import { encodeMark } from "../format/line.ts";
import { SIMULATED_DIRECTORY, SimulatedDisk, simulatedOptions } from "../testing/index.ts";
import { printCounts } from "../proof/print-counts.ts";
import {
  type Change,
  cuts,
  type Damage,
  flips,
  join,
  type Line,
  lineChanges,
  linesOf,
  nuls,
  read,
  type Region,
  regionAt,
  said,
  type SmallJournal,
  smallJournal,
  UNFINISHED_CLAIM,
  unfinishedClaim,
} from "../proof/small-journal.ts";
import { openJournal } from "./open.ts";

/** `lost`: the documented residual risk, taken for a torn batch. */
type Verdict = "refused" | "whole" | "lost";
type Rule = Verdict | { readonly marked: Verdict; readonly bare: Verdict };

/** The rule table: what damage that begins in a region gives, and whether the mark behind the last record stands. */
const rules = {
  cut: {
    ...needed("refused"),
    blank: "refused",
    mark: "refused",
    fill: { marked: "whole", bare: "refused" },
  },
  nul: {
    ...needed("refused"),
    blank: "refused",
    mark: "refused",
    fill: { marked: "whole", bare: "refused" },
  },
  flip: {
    ...needed("refused"),
    last: { marked: "refused", bare: "lost" },
    end: { marked: "refused", bare: "lost" },
    ...behind("whole"),
  },
  repeat: { ...needed("refused"), ...behind("whole") },
  swap: { ...needed("refused"), ...behind("whole") },
  delete: {
    ...needed("refused"),
    blank: "refused",
    mark: "refused",
    fill: { marked: "whole", bare: "refused" },
  },
  "delete-and-fill": {
    ...needed("refused"),
    end: { marked: "refused", bare: "lost" },
    ...behind("whole"),
  },
} satisfies Record<Damage, Record<Region, Rule>>;

function needed<V extends Verdict>(verdict: V): Record<Exclude<Region, "blank" | "mark" | "fill">, V> {
  return { head: verdict, snapshot: verdict, seal: verdict, durable: verdict, last: verdict, end: verdict };
}

function behind<V extends Verdict>(verdict: V): Record<"blank" | "mark" | "fill", V> {
  return { blank: verdict, mark: verdict, fill: verdict };
}

function expected(damage: Damage, region: Region, marked: boolean): Verdict {
  const rule: Rule = rules[damage][region];
  return typeof rule === "string" ? rule : rule[marked ? "marked" : "bare"];
}

const counts = { damages: 0, refused: 0, whole: 0, lost: 0 };
afterAll(() => printCounts("damage to a small journal", counts));

const variants: Record<string, () => Promise<SmallJournal>> = {
  "with its mark": () => smallJournal(true),
  "without its mark": () => smallJournal(false),
  "that was released": async () => smallJournal(true, { release: true }),
  "that is a snapshot": async () => smallJournal(true, { snapshotOnly: true }),
  "with an unfinished claim above": async () => {
    const journal = await smallJournal(true);
    journal.disk.plant(UNFINISHED_CLAIM, unfinishedClaim());
    return journal;
  },
};

/** Every bit and every place of a few kilobytes: slow where others share the machine. */
const TIMEOUT_MS = 60_000;

describe.each(Object.entries(variants))("a journal %s", { timeout: TIMEOUT_MS }, (_, make) => {
  it("I140 gives the documented verdict for every length that it may be cut to", async () => {
    const journal = await make();
    const bytes = join(journal.lines);
    expect(judgeAll(journal, cuts(bytes))).toEqual([]);
  });

  it("I71 gives the documented verdict for every flipped bit, and never reads it as something else", async () => {
    const journal = await make();
    expect(judgeAll(journal, flips(join(journal.lines)))).toEqual([]);
  });

  it.each([1, 16, 512])("I140 gives the documented verdict for %i NULs at every place", async (size) => {
    const journal = await make();
    expect(judgeAll(journal, nuls(join(journal.lines), size))).toEqual([]);
  });

  it("I71 gives the documented verdict for every line repeated, swapped with the next, or deleted", async () => {
    const journal = await make();
    expect(judgeAll(journal, lineChanges(journal.lines))).toEqual([]);
  });

  it("I140 refuses the file when it is empty, all NULs, or there twice", async () => {
    const journal = await make();
    const bytes = join(journal.lines);
    for (const changed of [Buffer.alloc(0), Buffer.alloc(bytes.length), Buffer.concat([bytes, bytes])]) {
      journal.disk.plant(journal.path, changed);
      expect(read(journal.disk)).toMatchObject({ kind: "refused", why: "corrupt", path: journal.path });
    }
  });
});

describe("an unfinished claim", { timeout: TIMEOUT_MS }, () => {
  const path = UNFINISHED_CLAIM;

  it("I140 damaged in any way, does not hide the journal below it", async () => {
    const { disk } = await smallJournal(true);
    const truth = said(read(disk));
    const bytes = unfinishedClaim();
    const changes = [...cuts(bytes), ...flips(bytes), ...nuls(bytes, 1), ...nuls(bytes, 16), ...nuls(bytes, 512)];
    const wrong = changes.filter((change) => {
      disk.plant(path, change.bytes);
      return said(read(disk)) !== truth;
    });
    expect(wrong.map(({ name }) => name)).toEqual([]);
    counts.damages += changes.length;
    counts.whole += changes.length;
  });

  it("I71 with a line in the wrong place is refused, or nothing", async () => {
    const { disk } = await smallJournal(true);
    const truth = said(read(disk));
    const lines = linesOf(unfinishedClaim()).map((line): Line => ({ bytes: line, region: "snapshot" }));
    for (const change of lineChanges(lines)) {
      disk.plant(path, change.bytes);
      expect([truth, "refused"]).toContain(said(read(disk)));
    }
  });
});

describe("a refusal", () => {
  it.each([
    ["a flipped bit", (bytes: Buffer) => ((bytes[40] = (bytes[40] ?? 0) ^ 1), bytes)],
    ["a truncation within the last record", (bytes: Buffer) => bytes.subarray(0, bytes.lastIndexOf('"end"'))],
    ["NULs", (bytes: Buffer) => bytes.fill(0, bytes.lastIndexOf('"end"'), bytes.lastIndexOf('"end"') + 16)],
    ["an empty file", () => Buffer.alloc(0)],
  ])("I71 I100 I140 of %s is the same at every opening, and every byte is kept", async (_, damage) => {
    const { disk, path, lines } = await smallJournal(true);
    disk.plant(path, damage(join(lines)));
    const before = image(disk);
    const first = await openJournal(simulatedOptions(disk));
    expect(first).toMatchObject({ kind: "refused", why: "corrupt", path });
    for (let start = 0; start < 3; start += 1) {
      expect(await openJournal(simulatedOptions(disk, { owner: { generation: `h${start}`, identity: {} } }))).toEqual(
        first,
      );
      expect(image(disk)).toEqual(before);
    }
  });

  it.each(["open", "fstat", "read"] as const)(
    "I93 I140 for an error of %s is no verdict on the bytes: nothing is written, and it passes with the error",
    async (call) => {
      const { disk, path } = await smallJournal(true);
      const before = image(disk);
      const truth = said(read(disk));
      for (let start = 0; start < 2; start += 1) {
        disk.inject({ call, errno: "EIO", pathEnds: ".jsonl", lasting: true });
        const changing: string[] = [];
        disk.onCall = (name) => void (CHANGING.has(name) && changing.push(name));
        expect(await openJournal(simulatedOptions(disk))).toMatchObject({ kind: "refused", why: "unreadable", path });
        disk.onCall = null;
        disk.heal();
        expect(changing).toEqual([]);
        expect(image(disk)).toEqual(before);
      }
      expect(said(read(disk))).toBe(truth);
    },
  );

  it("I93 I140 I144 for an error of the second read, behind the claim, leaves the empty claim and all else", async () => {
    const { disk } = await smallJournal(true);
    const before = image(disk);
    disk.inject({ call: "read", errno: "EIO", nth: 2 });
    expect(await openJournal(simulatedOptions(disk))).toMatchObject({ kind: "refused", why: "unreadable" });
    const claim = image(disk).at(-1);
    expect(image(disk)).toEqual([...before, claim]);
    expect([claim?.[0], new Set(claim?.[1])]).toEqual([expect.stringMatching(/^e\d{8}\.jsonl$/), new Set([0x0a])]);
    expect(await openJournal(simulatedOptions(disk))).toMatchObject({ kind: "opened" });
  });

  it("I71 for a journal that is missing where one must be makes none", async () => {
    const disk = new SimulatedDisk();
    for (let start = 0; start < 2; start += 1) {
      const result = await openJournal(simulatedOptions(disk, { expect: "existing" }));
      expect(result).toMatchObject({ kind: "refused", why: "missing" });
      expect(disk.exists(SIMULATED_DIRECTORY)).toBe(false);
    }
  });
});

const CHANGING = new Set(["write", "ftruncate", "link", "unlink", "rename", "mkdir", "rmdir", "chmod", "fchmod"]);

/** Everything in the directory: a refused journal keeps every byte. */
const image = (disk: SimulatedDisk): readonly (readonly [string, Buffer])[] =>
  disk.readdir(SIMULATED_DIRECTORY).map((name) => [name, disk.contentOf(`${SIMULATED_DIRECTORY}/${name}`)]);

/** What was read otherwise than documented. */
function judgeAll(journal: SmallJournal, changes: Iterable<Change>): string[] {
  const { disk, path, lines, marked } = journal;
  const original = join(lines);
  const truth = said(read(disk));
  const wrong: string[] = [];
  for (const { name, bytes, damage, at } of changes) {
    if (bytes.equals(original)) continue;
    const region = regionAt(lines, at);
    const verdict = expected(damage, region, marked);
    disk.plant(path, bytes);
    const report = read(disk);
    const found = said(report);
    const allowed = { refused: ["refused"], whole: [truth], lost: journal.lesser }[verdict];
    counts.damages += 1;
    counts[verdict] += 1;
    if (!allowed.includes(found)) wrong.push(`${name} in ${region}: ${found}, not ${verdict}`);
    else if (report.kind === "refused" && report.why !== "corrupt") wrong.push(`${name}: ${report.why}`);
  }
  return wrong;
}

it("the mark of these journals is the one that the writer makes", async () => {
  const { disk, path } = await smallJournal(true);
  const bytes = disk.contentOf(path);
  const salt = /"e":"([0-9a-f]{8})"/.exec(bytes.toString())?.[1] ?? "";
  const last = Number(/"s":(\d+)(?!.*"s":)/s.exec(bytes.toString())?.[1]);
  expect(bytes.includes(encodeMark(last, Number.parseInt(salt, 16)))).toBe(true);
});
