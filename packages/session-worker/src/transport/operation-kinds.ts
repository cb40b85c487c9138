import type { ActionKind } from "@holdfast/client/protocol";
import type { OpenOperation } from "@holdfast/recovery-journal";
import type { OperationKind } from "./store-contract.ts";

/** The closed set of what a session's journal may hold open: actions, and processes that a stop left. */
export const operationKinds: readonly OperationKind[] = ["prompt", "steer", "follow_up", "process"];

export type OpenActionRecord = OpenOperation<OperationKind> & { readonly kind: ActionKind };

export const isAction = (operation: OpenOperation<OperationKind>): operation is OpenActionRecord =>
  operation.kind !== "process";
