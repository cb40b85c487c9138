import { launching, recovering, starting } from "./launch-rows.ts";
import type { Row } from "./rule.ts";
import { failed, passivated, ready, reconnecting } from "./serve-rows.ts";
import type { StateName } from "./state.ts";
import { finalizing, stopping } from "./stop-rows.ts";

/** The whole lifecycle of one registration: every state × every event (DESIGN §3.1). */
export const transitions = {
  launching,
  starting,
  ready,
  reconnecting,
  recovering,
  stopping,
  finalizing,
  failed,
  passivated,
} as const satisfies { readonly [N in StateName]: Row<N> };
