import { nodeFileSystem, readJournal } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { isAction, operationKinds } from "./operation-kinds.ts";
import type { AdmitResult } from "./store-contract.ts";
import { settledOf } from "./settled.ts";
import { detailOf } from "./store-recovery.ts";

/** `unknown`: the session's journal cannot say. */
export type FoundRequest =
  | Exclude<AdmitResult, { readonly kind: "accepted" }>
  | { readonly kind: "none" }
  | { readonly kind: "unknown" };

export interface FindRequestOptions {
  /** The session's. */
  readonly directory: string;
  readonly requestId: string;
  readonly hash: string;
  readonly fs?: FileSystem;
}

/**
 * What became of a submission, read beside whoever writes the journal, or with nobody there (I143). What is found settled was durable
 * before; of an open one, and of none, that is so only once its writer is gone.
 */
export function findRequest({ directory, requestId, hash, fs = nodeFileSystem }: FindRequestOptions): FoundRequest {
  const report = readJournal(`${directory}/journal`, operationKinds, fs);
  if (report.kind === "fresh") return { kind: "none" };
  if (report.kind === "refused" || report.quarantines.length > 0) return { kind: "unknown" };
  const found = report.remembered.find((request) => request.requestId === requestId);
  if (!found) return { kind: "none" };
  if (found.hash !== hash) return { kind: "reused" };
  if (found.outcome) return { kind: "repeated", ...settledOf(found.outcome) };
  const open = report.open.filter(isAction).find((operation) => detailOf(operation).requestId === requestId);
  if (!open) return { kind: "unknown" };
  return { kind: "repeated", actionId: open.operationId, cursor: detailOf(open).before, settled: null };
}
