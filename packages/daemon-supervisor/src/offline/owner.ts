import type { OwnerRecord } from "@holdfast/client/protocol";
import { nodeFileSystem } from "@holdfast/recovery-journal";
import { createObserver } from "@holdfast/shared-process";
import { readWorkerFiles } from "../descriptor-files.ts";
import { judgeOwner } from "../ownership/judge.ts";
import { topOwner } from "@holdfast/session-worker/transport";

export type OfflineOwner =
  | { readonly kind: "none" }
  | { readonly kind: "alive" | "gone" | "stopped"; readonly record: OwnerRecord }
  | {
      readonly kind: "unknown";
      readonly why: string;
      readonly record: OwnerRecord | null;
      /** It is of another machine. */
      readonly isElsewhere?: true;
    };

/** Who owns a home, by its records and the kernel alone. */
export function ownerState(
  home: string,
  observer = createObserver({ mode: "narrow", library: "for-signals" }),
): OfflineOwner {
  const top = topOwner(nodeFileSystem, home);
  const record = top.kind === "found" ? top.record : null;
  const state = judgeOwner(observer, home, top);
  switch (state.kind) {
    case "none":
      return { kind: "none" };
    case "alive":
      return { kind: "alive", record: state.record };
    case "free":
      return record ? { kind: state.why, record } : { kind: "none" };
    case "unknown":
      return { ...state, record };
  }
}

/** Whether some descriptor names a process that may have to be adopted or recovered. */
export const descriptorsNameProcess = (home: string): boolean =>
  readWorkerFiles(nodeFileSystem, home).descriptors.some(
    (read) => read.kind === "descriptor" && read.descriptor.lifecycle !== "failed",
  );
