import type { SessionRow } from "@holdfast/client/protocol";
import { damagedRow } from "../../rows.ts";
import { sessionRecordOf } from "../../session-record.testing.ts";
import type { SeenSession } from "./seen.ts";

export const ID = "01a2aaaa-0000-7000-8000-000000000001";
/** One of which nothing is wrong. */
export const session: SeenSession = {
  sessionId: ID,
  record: { kind: "record", record: sessionRecordOf(ID) },
  descriptor: null,
  intents: [],
  denied: [],
  journal: { kind: "fresh" },
  transcript: null,
  life: { kind: "gone" },
  row: null,
};
export const rowOf = (state: SessionRow["state"], reason: string | null = null): SessionRow => ({
  ...damagedRow(ID, ""),
  state,
  reason,
});
/** Of a journal. */
export const sound = {
  kind: "ok",
  segment: 1,
  owner: { generation: "g", identity: {} },
  released: true,
  open: [],
  remembered: [],
  quarantines: [],
  tornBytes: 0,
} as const;
