import type { OperationKind } from "./store-contract.ts";

/** The closed set of what a session's journal may hold open. */
export const operationKinds: readonly OperationKind[] = ["prompt", "steer", "follow_up"];
