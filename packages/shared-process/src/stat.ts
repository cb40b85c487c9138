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
  /**
   * What its parent is sent when it ends: 17, SIGCHLD, of nearly all processes, and -1 of every thread but a leader, which is how
   * the kernel itself tells them apart (`thread_group_leader`). `null` where the line ends before it.
   */
  readonly exitSignal: number | null;
  /** As waitpid(2) gives it, once it has ended; 0 also where the kernel hides it, `null` on kernels before 3.5. */
  readonly exitStatus: number | null;
}

export type ParsedStat = { readonly kind: "parsed"; readonly stat: ProcessStat } | { readonly kind: "unparsable" };

/** Field number in proc_pid_stat(5) → place among the fields after the name, which start with field 3. */
const place = (field: number): number => field - 3;
const FIELDS_NEEDED = place(24) + 1;
const UNPARSABLE = { kind: "unparsable" } as const;

/** The name may hold anything, so the fields begin after the LAST `)`: `a) Z 1 (b` is a legal name. */
export function parseStat(text: string): ParsedStat {
  const open = text.indexOf(" (");
  const close = text.lastIndexOf(")");
  if (open < 1 || close < open + 2 || endOfDigits(text, 0) !== open) return UNPARSABLE;
  const count = findFields(text, close + 2);
  if (count < FIELDS_NEEDED || text.charCodeAt(startOf(22)) === MINUS) return UNPARSABLE;
  return {
    kind: "parsed",
    stat: {
      pid: numberIn(text, 0, open),
      command: text.slice(open + 2, close),
      state: text.charAt(close + 2),
      ppid: numberOf(text, 4),
      pgrp: numberOf(text, 5),
      session: numberOf(text, 6),
      userTicks: numberOf(text, 14),
      systemTicks: numberOf(text, 15),
      threads: numberOf(text, 20),
      startTicks: text.slice(startOf(22), ends[place(22)]),
      residentPages: numberOf(text, 24),
      exitSignal: count <= place(38) ? null : numberOf(text, 38),
      exitStatus: count <= place(52) ? null : numberOf(text, 52),
    },
  };
}

const SPACE = 0x20;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const NEWLINE = 0x0a;
const isLetter = (code: number): boolean => (code | SPACE) >= 0x61 && (code | SPACE) <= 0x7a;

/** Where the fields of the text read last end. Later kernels may add some, which nobody here asks for. */
const ends = new Int32Array(64);
const startOf = (field: number): number => (ends[place(field) - 1] ?? 0) + 1;
const numberOf = (text: string, field: number): number => numberIn(text, startOf(field), ends[place(field)] ?? 0);

/**
 * Finds where each field ends: a letter, then whole numbers, one space before each, and at most a newline behind them. Gives
 * their number, 0 when it is anything else. By character codes, since patterns would take longer than the kernel does.
 */
function findFields(text: string, from: number): number {
  if (text.charCodeAt(from - 1) !== SPACE || !isLetter(text.charCodeAt(from))) return 0;
  let [at, count] = [from + 1, 1];
  ends[0] = at;
  while (text.charCodeAt(at) === SPACE) {
    const first = text.charCodeAt(at + 1) === MINUS ? at + 2 : at + 1;
    at = endOfDigits(text, first);
    if (at === first) return 0;
    ends[count] = at;
    count += 1;
  }
  const isAll = at === text.length || (at === text.length - 1 && text.charCodeAt(at) === NEWLINE);
  return isAll ? Math.min(count, ends.length) : 0;
}

function endOfDigits(text: string, from: number): number {
  let at = from;
  for (let code = text.charCodeAt(at); code >= ZERO && code <= NINE; code = text.charCodeAt(at)) at += 1;
  return at;
}

function numberIn(text: string, from: number, to: number): number {
  const negative = text.charCodeAt(from) === MINUS;
  let value = 0;
  for (let at = negative ? from + 1 : from; at < to; at += 1) value = value * 10 + text.charCodeAt(at) - ZERO;
  return negative ? -value : value;
}

/**
 * A leader that ended while its threads run on shows `Z` with more than one thread: it is alive and takes signals
 * (I3).
 */
export function isDefunct(stat: Pick<ProcessStat, "state" | "threads">): boolean {
  if (stat.state === "X" || stat.state === "x") return true;
  return stat.state === "Z" && stat.threads <= 1;
}
