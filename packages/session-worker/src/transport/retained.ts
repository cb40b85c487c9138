import { _default, object, safeParse, string, boolean } from "zod/mini";
import type { infer as Infer } from "zod/mini";
import { identitySchema } from "@holdfast/client/protocol";
import { readJournal } from "@holdfast/recovery-journal";
import type { FileSystem, Journal, OpenOperation, OperationToken } from "@holdfast/recovery-journal";
import { startIdOf } from "@holdfast/shared-process";
import { operationKinds } from "./operation-kinds.ts";
import type { OperationKind } from "./store-contract.ts";

const retainedSchema = object({
  identity: identitySchema,
  command: string(),
  /** Value of `HOLDFAST_SESSION` of its session. */
  marker: string(),
  /**
   * Before it is signalled, it has to stand in its environment. False: other evidence proved that it is the session's, and its identity
   * is the proof since.
   */
  marked: _default(boolean(), true),
  /** A program of the keep list; false: it could not be ended. */
  kept: boolean(),
});
/** A process that a stop left: its end gates nothing, but it stays listed until it is gone (I167). */
export type RetainedProcess = Infer<typeof retainedSchema>;

/** More than that are listed by a scan alone. */
const MAX_RETAINED = 256;

/** Those of one session, in its journal. */
export class RetainedProcesses {
  readonly #journal: Journal<OperationKind>;
  readonly #generation: string;
  readonly #processes = new Map<string, { process: RetainedProcess; token: OperationToken<OperationKind> }>();
  readonly #adding = new Set<string>();

  constructor(journal: Journal<OperationKind>, generation: string) {
    this.#journal = journal;
    this.#generation = generation;
    for (const operation of journal.open()) {
      const process = retainedOf(operation);
      const token = process && journal.adopt(operation);
      if (process && token) this.#processes.set(startIdOf(process.identity), { process, token });
    }
  }

  get size(): number {
    return this.#processes.size;
  }

  all(): RetainedProcess[] {
    return [...this.#processes.values()].map(({ process }) => process);
  }

  async add(process: RetainedProcess): Promise<void> {
    const id = startIdOf(process.identity);
    if (this.#processes.has(id) || this.#adding.has(id)) return;
    if (this.#processes.size + this.#adding.size >= MAX_RETAINED) return;
    this.#adding.add(id);
    try {
      await this.#begin(id, process);
    } finally {
      this.#adding.delete(id);
    }
  }

  async #begin(id: string, process: RetainedProcess): Promise<void> {
    const detail = { ...process, identity: { ...process.identity } };
    const token = await this.#journal.begin({
      operationId: `process ${id}`,
      generation: this.#generation,
      kind: "process",
      detail,
    });
    this.#processes.set(id, { process, token });
  }

  /** Forgets those that are proven gone. */
  async settle(isGone: (process: RetainedProcess) => boolean): Promise<void> {
    for (const [id, { process, token }] of this.#processes) {
      if (!isGone(process)) continue;
      await this.#journal.end(token, { outcome: "gone" });
      this.#processes.delete(id);
    }
  }
}

/** What a session's journal says of them, without claiming it. */
export function readRetained(directory: string, fs: FileSystem): readonly RetainedProcess[] {
  const report = readJournal(`${directory}/journal`, operationKinds, fs);
  return report.kind === "ok" ? report.open.flatMap((operation) => retainedOf(operation) ?? []) : [];
}

function retainedOf({ kind, detail }: OpenOperation<OperationKind>): RetainedProcess | null {
  if (kind !== "process") return null;
  const parsed = safeParse(retainedSchema, detail);
  return parsed.success ? parsed.data : null;
}
