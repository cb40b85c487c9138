import { CodedError } from "@holdfast/shared-process";
import type { FileSystem } from "../file-system.ts";
import { removeJournal } from "../journal/remove.ts";
import type { Journal } from "../types.ts";
import type { JournalModel } from "./journal-model.ts";
import { openSimulated, SIMULATED_DIRECTORY, type SimulatedKind } from "./open-simulated.ts";

/**
 * One step of a workload; a list of ids goes out in one turn. `admit` begins with a request, `begin` without. `pad` bytes of detail
 * fill the segment. `reopen` takes over without a release; `remove` needs a closed journal with nothing open.
 */
export type Step =
  | { readonly do: "admit" | "begin" | "end" | "note"; readonly ids: readonly string[]; readonly pad?: number }
  | { readonly do: "close" }
  | { readonly do: "reopen" }
  | { readonly do: "remove" };

export interface WorkloadOptions {
  /** The writer's generation. Default `g1`. */
  readonly owner?: string;
  /** Called with each journal that was opened, before anything is asked of it. */
  readonly onOpened?: (journal: Journal<SimulatedKind>) => void;
}

/** Runs the steps on a disk and keeps the model up to date. Refused steps are left out of what was acknowledged. */
export async function runWorkload(
  fs: FileSystem,
  steps: readonly Step[],
  model: JournalModel,
  options: WorkloadOptions = {},
): Promise<void> {
  let journal = await openForWorkload(fs, model, options);
  for (const step of steps) {
    if (step.do === "reopen") journal = await openForWorkload(fs, model, options);
    else if (step.do === "close") await journal?.close();
    else if (step.do === "remove") remove(fs, model);
    else if (journal !== null) await runStep(journal, step, model);
  }
}

async function openForWorkload(
  fs: FileSystem,
  model: JournalModel,
  options: WorkloadOptions,
): Promise<Journal<SimulatedKind> | null> {
  const asked = model.removal;
  if (asked === "done") model.removal = "asked";
  const journal = await attempt(openSimulated(fs, { owner: { generation: options.owner ?? "g1", identity: {} } }));
  if (journal === null) return null;
  model.opened = true;
  model.removal = "none";
  if (asked === "done") model.remembered.clear();
  options.onOpened?.(journal);
  return journal;
}

function remove(fs: FileSystem, model: JournalModel): void {
  model.removal = "asked";
  try {
    removeJournal(SIMULATED_DIRECTORY, fs);
    model.removal = "done";
  } catch {
    // A disk that fails; the journal may be there or not.
  }
}

async function runStep(
  journal: Journal<SimulatedKind>,
  step: Extract<Step, { ids: readonly string[] }>,
  model: JournalModel,
): Promise<void> {
  const detail = { text: "x".repeat(step.pad ?? 0) };
  const one = async (id: string): Promise<void> => {
    const request = { operationId: id, generation: "g1", kind: "prompt", detail } as const;
    if (step.do === "admit" || step.do === "begin") {
      model.asked.add(id);
      const asked = { requestId: `q-${id}`, hash: "h" };
      const token = await attempt(step.do === "admit" ? journal.admit(request, asked) : journal.begin(request));
      if (token !== null) model.begun.add(id);
      if (token !== null && step.do === "admit") model.remembered.set(asked.requestId, null);
      return;
    }
    const token = journal.adopt({ operationId: id, generation: "g1" });
    if (token === null) return;
    if (step.do === "note") {
      count(model.notesAsked, id);
      if ((await attempt(journal.note(token, detail).then(() => true))) !== null) count(model.notes, id);
      return;
    }
    model.endAsked.add(id);
    if ((await attempt(journal.end(token, detail))) !== "ended") return;
    model.ended.add(id);
    if (model.remembered.has(`q-${id}`)) model.remembered.set(`q-${id}`, JSON.stringify(detail));
  };
  await Promise.all(step.ids.map(one));
}

function count(counts: Map<string, number>, id: string): void {
  counts.set(id, (counts.get(id) ?? 0) + 1);
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
