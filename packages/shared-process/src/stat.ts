/** What Holdfast uses of `/proc/PID/stat` (proc_pid_stat(5)). Ticks are 1/100 s on every Linux that Node runs on. */
export interface ProcessStat {
  readonly pid: number;
  /** At most 15 bytes, read as Latin-1; any byte may occur, `)` and newline too. */
  readonly command: string;
  readonly state: string;
  readonly ppid: number;
  readonly pgrp: number;
  readonly session: number;
  readonly userTicks: number;
  readonly systemTicks: number;
  readonly threads: number;
  readonly startTicks: string;
  /** Resident memory; shared pages count in every process that has them. */
  readonly residentPages: number;
  /** As waitpid(2) gives it, once it has ended; 0 also where the kernel hides it, `null` on kernels before 3.5. */
  readonly exitStatus: number | null;
}

export type ParsedStat = { readonly kind: "parsed"; readonly stat: ProcessStat } | { readonly kind: "unparsable" };

/** A letter, and numbers. */
const FIELDS = /^[A-Za-z](?: -?\d+)+$/;
const HEAD = /^(\d+) \(([^]*)$/;
/** Field number in proc_pid_stat(5) → place in the fields after the name, which start with field 3. */
const place = (field: number): number => field - 3;
const FIELDS_NEEDED = place(24) + 1;

/** The name may hold anything, so the fields begin after the LAST `)`: `a) Z 1 (b` is a legal name. */
export function parseStat(text: string): ParsedStat {
  const close = text.lastIndexOf(")");
  const head = HEAD.exec(text.slice(0, Math.max(close, 0)));
  const tail = text.slice(close + 1).trim();
  const fields = tail.split(" ");
  const state = fields[0] ?? "";
  if (head === null || fields.length < FIELDS_NEEDED || !FIELDS.test(tail)) return { kind: "unparsable" };
  const startTicks = fields[place(22)] ?? "";
  if (!/^\d+$/.test(startTicks)) return { kind: "unparsable" };
  const number = (field: number): number => Number(fields[place(field)]);
  return {
    kind: "parsed",
    stat: {
      pid: Number(head[1]),
      command: head[2] ?? "",
      state,
      ppid: number(4),
      pgrp: number(5),
      session: number(6),
      userTicks: number(14),
      systemTicks: number(15),
      threads: number(20),
      startTicks,
      residentPages: number(24),
      exitStatus: fields.length < place(52) + 1 ? null : number(52),
    },
  };
}

/**
 * A leader that ended while its threads run on shows `Z` with more than one thread: it is alive and takes signals
 * (I3).
 */
export function isDefunct(stat: Pick<ProcessStat, "state" | "threads">): boolean {
  if (stat.state === "X" || stat.state === "x") return true;
  return stat.state === "Z" && stat.threads <= 1;
}
