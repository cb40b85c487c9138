import { CodedError } from "@holdfast/shared-process";
import type { FileSystem } from "../file-system.ts";
import { readJournal } from "../journal/read.ts";
import type { Journal, JournalReport } from "../types.ts";
import { openSimulated, SIMULATED_DIRECTORY, SIMULATED_KINDS, type SimulatedKind } from "./open-simulated.ts";
import type { SimulatedDisk } from "./simulated-disk.ts";

/** One step of a workload; a list of ids goes out in one turn. `pad` bytes of detail fill the segment. */
export type Step =
  | { readonly do: "admit" | "end" | "note"; readonly ids: readonly string[]; readonly pad?: number }
  | { readonly do: "close" }
  | { readonly do: "reopen" };

/** What was asked of a journal and what it acknowledged: the measure of every crash state. */
export class JournalModel {
  readonly asked = new Set<string>();
  readonly begun = new Set<string>();
  readonly endAsked = new Set<string>();
  readonly ended = new Set<string>();
  opened = false;

  /** Changes whenever something was asked or acknowledged. */
  get version(): string {
    return [this.asked.size, this.begun.size, this.endAsked.size, this.ended.size, this.opened].join();
  }

  /** What is wrong with a report, `null` when it is one that a crash now may leave. */
  judge(report: JournalReport): string | null {
    if (report.kind === "refused") return `refused: ${report.why}, ${report.message}`;
    if (report.kind === "fresh") return this.opened ? "an opened journal is missing" : null;
    const open = new Set(report.open.map(({ operationId }) => operationId));
    for (const id of this.begun) if (!this.endAsked.has(id) && !open.has(id)) return `${id} was begun and is lost`;
    for (const id of this.ended) if (open.has(id)) return `${id} was ended and is open again`;
    for (const id of open) if (!this.asked.has(id)) return `${id} was never begun`;
    const remembered = new Map(report.remembered.map((request) => [request.requestId, request.outcome]));
    for (const id of this.begun) if (!remembered.has(`q-${id}`)) return `the request of ${id} is lost`;
    for (const id of this.ended) if (remembered.get(`q-${id}`) === null) return `the outcome of ${id} is lost`;
    return null;
  }

  judgeDisk(fs: FileSystem): string | null {
    return this.judge(readJournal(SIMULATED_DIRECTORY, SIMULATED_KINDS, fs));
  }
}

/** Runs the steps on a disk and keeps the model up to date. Refused steps are left out of what was acknowledged. */
export async function runWorkload(disk: SimulatedDisk, steps: readonly Step[], model: JournalModel): Promise<void> {
  let journal = await openForWorkload(disk, model);
  for (const step of steps) {
    if (step.do === "reopen") journal = await openForWorkload(disk, model);
    else if (step.do === "close") await journal?.close();
    else if (journal !== null) await runStep(journal, step, model);
  }
}

async function openForWorkload(disk: SimulatedDisk, model: JournalModel): Promise<Journal<SimulatedKind> | null> {
  const journal = await attempt(openSimulated(disk));
  if (journal !== null) model.opened = true;
  return journal;
}

async function runStep(
  journal: Journal<SimulatedKind>,
  step: Extract<Step, { ids: readonly string[] }>,
  model: JournalModel,
): Promise<void> {
  const detail = { text: "x".repeat(step.pad ?? 0) };
  const one = async (id: string): Promise<void> => {
    const request = { operationId: id, generation: "g1", kind: "prompt", detail } as const;
    if (step.do === "admit") {
      model.asked.add(id);
      const token = await attempt(journal.admit(request, { requestId: `q-${id}`, hash: "h" }));
      if (token !== null) model.begun.add(id);
      return;
    }
    const token = journal.adopt({ operationId: id, generation: "g1" });
    if (token === null) return;
    if (step.do === "note") {
      await attempt(journal.note(token, detail));
      return;
    }
    model.endAsked.add(id);
    if ((await attempt(journal.end(token, detail))) === "ended") model.ended.add(id);
  };
  await Promise.all(step.ids.map(one));
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
