import { CodedError } from "@holdfast/shared-process";
import type { FileSystem } from "../file-system.ts";
import { openJournal } from "../journal/open.ts";
import { quarantineJournal } from "../journal/quarantine.ts";
import { removeJournal } from "../journal/remove.ts";
import { SIMULATED_DIRECTORY, type SimulatedKind, simulatedOptions } from "../testing/open-simulated.ts";
import type { BeginRequest, Journal, JournalReport } from "../types.ts";
import type { Call } from "./entry.ts";
import type { Ledger } from "./ledger.ts";

/**
 * One step of a workload; a list of ids goes out in one turn, for `restore` in one record. `admit` begins with a request, `begin`
 * without. `pad` bytes of detail fill the segment. `reopen` takes over without a release; `remove` needs a closed journal with
 * nothing open. A workload that begins with `quarantine` begins with a missing journal that somebody puts aside.
 */
export type Step =
  | {
      readonly do: "admit" | "begin" | "restore" | "end" | "note" | "remember";
      readonly ids: readonly string[];
      readonly pad?: number;
    }
  | { readonly do: "quarantine" | "resolve" | "close" | "reopen" | "remove" };

/** The calls of a journal that broken variants replace. */
type BreakableCalls = Pick<Journal<SimulatedKind>, "restore" | "remember">;

export interface WorkloadOptions {
  /** The writer's generation. Default `g1`. */
  readonly owner?: string;
  /** Called with what each opening found, before anything is asked of the journal. */
  readonly onOpened?: (report: JournalReport) => void;
  readonly breakCalls?: ((journal: Journal<SimulatedKind>) => Partial<BreakableCalls>) | undefined;
}

type TakesEntries = Pick<Ledger, "take">;

/** Of the first segment's record. */
const QUARANTINE = "q00000001";

/** Runs the steps on a disk and says to the ledger what was asked and told. What was refused stays asked for. */
export async function runWorkload(
  fs: FileSystem,
  steps: readonly Step[],
  ledger: TakesEntries,
  options: WorkloadOptions = {},
): Promise<void> {
  const run: Run = { fs, ledger, options, asks: 0 };
  let journal = steps[0]?.do === "quarantine" ? null : await open(run);
  for (const step of steps) {
    if (step.do === "reopen") journal = await open(run);
    else if (step.do === "close") await journal?.close();
    else if (step.do === "remove") remove(run);
    else if (step.do === "quarantine") await ask(run, { type: step.do, id: QUARANTINE }, () => putAside(run));
    else if (journal !== null) await perform(run, journal, step);
  }
}

interface Run {
  readonly fs: FileSystem;
  readonly ledger: TakesEntries;
  readonly options: WorkloadOptions;
  asks: number;
}

/** What a step asks of a journal, as far as what it names is open. */
export function callsOf(step: Step): readonly Call[] {
  if (!("ids" in step)) {
    return step.do === "quarantine" || step.do === "resolve" ? [{ type: step.do, id: QUARANTINE }] : [];
  }
  const { do: type, ids } = step;
  if (type === "restore") return [{ type, ids }];
  return ids.map((id): Call => {
    switch (type) {
      case "admit":
        return { type, ids: [id], requestId: `q-${id}` };
      case "begin":
        return { type, ids: [id] };
      case "note":
        return { type, ids: [id], detail: detailOf(step) };
      case "end":
        return { type, ids: [id], outcome: detailOf(step) };
      case "remember":
        return { type, requestId: `r-${id}`, outcome: detailOf(step) };
    }
  });
}

function detailOf(step: Step): { readonly text: string } {
  return { text: "x".repeat("pad" in step ? step.pad : 0) };
}

async function open(run: Run): Promise<Journal<SimulatedKind> | null> {
  const { fs, ledger, options } = run;
  ledger.take({ journal: "opening" });
  const owner = { generation: options.owner ?? "g1", identity: {} };
  const result = await attempt(openJournal(simulatedOptions(fs, { owner })));
  if (result?.kind !== "opened") return null;
  options.onOpened?.(result.report);
  ledger.take({ journal: "opened" });
  return result.journal;
}

function remove({ fs, ledger }: Run): void {
  ledger.take({ journal: "removing" });
  try {
    removeJournal(SIMULATED_DIRECTORY, fs);
    ledger.take({ journal: "removed" });
  } catch {
    // A disk that fails; the journal may be there or not.
  }
}

async function putAside({ fs }: Run): Promise<string> {
  const seen = { why: "missing", path: SIMULATED_DIRECTORY, sha256: null } as const;
  const { kind } = await quarantineJournal({
    ...simulatedOptions(fs),
    probeOwner: () => "gone",
    seen,
    reason: "the disk was replaced",
  });
  return kind;
}

async function perform(run: Run, journal: Journal<SimulatedKind>, step: Step): Promise<void> {
  const detail = detailOf(step);
  const calls: BreakableCalls = {
    restore: (requests) => journal.restore(requests),
    remember: (request) => journal.remember(request),
    ...run.options.breakCalls?.(journal),
  };
  const requestOf = (operationId: string): BeginRequest<SimulatedKind> => {
    return { operationId, generation: "g1", kind: "prompt", detail };
  };
  /** `null`: what it names is not open. */
  const workOf = (call: Call): (() => Promise<unknown>) | null => {
    const [operationId = ""] = "ids" in call ? call.ids : [];
    const token = journal.adopt({ operationId, generation: "g1" });
    switch (call.type) {
      case "begin":
        return () => journal.begin(requestOf(operationId));
      case "admit":
        return () => journal.admit(requestOf(operationId), { requestId: call.requestId, hash: "h" });
      case "restore":
        return () => calls.restore(call.ids.map(requestOf));
      case "note":
        return token && (() => journal.note(token, call.detail));
      case "end":
        return token && (() => journal.end(token, call.outcome));
      case "remember":
        return () => calls.remember({ requestId: call.requestId, hash: "h", outcome: call.outcome });
      case "resolve":
        return () => journal.resolveQuarantine(call.id, { kind: "known" });
      case "quarantine":
        return null;
    }
  };
  await Promise.all(
    callsOf(step).map(async (call) => {
      const work = workOf(call);
      if (work !== null) await ask(run, call, work);
    }),
  );
}

/** What these give was not done. */
const NOT_DONE: readonly unknown[] = [null, "stale", "changed", "owned"];

async function ask(run: Run, call: Call, work: () => Promise<unknown>): Promise<void> {
  run.asks += 1;
  const key = `${run.options.owner ?? "g1"} ${run.asks}`;
  run.ledger.take({ ask: key, call });
  if (!NOT_DONE.includes(await attempt(work()))) run.ledger.take({ ack: key });
}

/** `null` when the journal refused, for a reason of its own. */
async function attempt<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof CodedError && error.code !== "invariant_broken") return null;
    throw error;
  }
}
