/** What is asked of a session in one state, and what follows. */
export interface Cell {
  readonly exit: number;
  /** The code in the one JSON line on standard error. */
  readonly code?: string;
  /** The state that the verb leads to; without one the session stays as it is. */
  readonly after?: string;
  /** Of a prompt that was taken: it runs exactly once in the end. */
  readonly status?: "accepted" | "queued";
}

/**
 * States that verbs meet. `recovering` is the wait for a relaunch, `reconnecting` (also shown as recovering) that for a worker which
 * does not answer; `unlaunched` is failed without a process in its descriptor.
 */
export const columns = [
  "starting",
  "ready",
  "recovering",
  "reconnecting",
  "stopping",
  "stopped",
  "failed",
  "unlaunched",
  "passivated",
  "archived",
  "quarantined",
] as const;
export type ColumnName = (typeof columns)[number];

type Row<C extends readonly unknown[] = typeof columns> = { readonly [Index in keyof C]: Cell };

const same: Cell = { exit: 0 };
const to = (after: string): Cell => ({ exit: 0, after });
const no = (exit: number, code: string): Cell => ({ exit, code });

const takes: Cell = { exit: 0, status: "accepted" };
const queues: Cell = { exit: 0, status: "queued" };
const ready = to("ready");
const stopped = to("stopped");
const archived = to("archived");
const deleted = to("deleted");
const busy = no(5, "session_busy");
const isRunning = no(5, "session_running");
const isStopping = no(6, "session_stopping");
const isStopped = no(5, "session_stopped");
const hasFailed = no(6, "session_failed");
const isArchived = no(5, "session_archived");
const notArchived = no(5, "not_archived");
const inert = no(7, "session_quarantined");
/** `wait --for stopped` with a moment's patience. */
const notYet = no(8, "timeout");

// One line per verb, to be read beside the contract's table. Where the worker cannot answer yet, a prompt is taken once it can.
/* oxfmt-ignore */
const prompts: Row = [
  { ...takes, ...ready }, takes, takes, { ...takes, ...ready }, isStopping, isStopped, hasFailed, hasFailed,
  { ...takes, ...ready }, isArchived, inert,
];
/* oxfmt-ignore */
const steers: Row = [
  { ...queues, ...ready }, queues, queues, { ...queues, ...ready }, isStopping, isStopped, hasFailed, hasFailed,
  { ...queues, ...ready }, isArchived, inert,
];
const reads: Row = [same, same, same, same, same, same, same, same, same, same, same];

/* oxfmt-ignore */
export const table = {
  prompt: prompts,
  "follow-up": prompts,
  steer: steers,
  cancel: [same, same, same, same, same, same, same, same, same, same, inert],
  stop: [stopped, stopped, stopped, stopped, stopped, same, stopped, stopped, stopped, same, inert],
  resume: [ready, same, ready, ready, ready, ready, ready, ready, ready, ready, inert],
  retry: [ready, same, ready, ready, ready, isStopped, ready, ready, same, isArchived, inert],
  archive: [
    archived, archived, archived, archived, archived, archived, archived, archived, archived, same, inert,
  ],
  passivate: [busy, to("passivated"), busy, busy, busy, same, busy, busy, same, same, inert],
  delete: [
    isRunning, isRunning, isRunning, isRunning, isRunning, deleted, deleted, deleted, isRunning, deleted, inert,
  ],
  unarchive: [
    notArchived, notArchived, notArchived, notArchived, notArchived, same, notArchived, notArchived, notArchived,
    stopped, inert,
  ],
  rename: [same, same, same, same, same, same, same, same, same, same, inert],
  set: [same, same, same, same, same, same, same, same, same, isArchived, inert],
  attach: reads,
  show: reads,
  transcript: reads,
  logs: reads,
  wait: [notYet, notYet, notYet, notYet, notYet, same, notYet, notYet, notYet, same, notYet],
} as const satisfies Readonly<Record<string, Row>>;

export type Verb = keyof typeof table;
// The keys of an object that nobody adds to.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
export const verbs = Object.keys(table) as readonly Verb[];

export const cellOf = (verb: Verb, column: ColumnName): Cell => {
  const row: Row = table[verb];
  const cell = row[columns.indexOf(column)];
  if (!cell) throw new Error(`no cell for ${verb} in ${column}`);
  return cell;
};

/** Those that only look; they start nothing, in no state. */
export const readVerbs = ["attach", "show", "transcript", "logs", "wait"] as const satisfies readonly Verb[];
