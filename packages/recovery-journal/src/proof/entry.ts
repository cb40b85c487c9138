import type { JsonObject } from "../types.ts";

/** One call of a journal's writer: one record. */
export type Call =
  | { readonly type: "begin" | "restore"; readonly ids: readonly string[] }
  | { readonly type: "admit"; readonly ids: readonly string[]; readonly requestId: string }
  | { readonly type: "note"; readonly ids: readonly string[]; readonly detail: JsonObject }
  | { readonly type: "end"; readonly ids: readonly string[]; readonly outcome: JsonObject }
  | { readonly type: "remember"; readonly requestId: string; readonly outcome: JsonObject }
  /** A missing journal is put in quarantine, and a quarantine is resolved. */
  | { readonly type: "quarantine" | "resolve"; readonly id: string };

/** Names a call until it is answered. */
export type Asked = string | number;

/** What a writer asked, and what it was told. */
export type Entry =
  | { readonly ask: Asked; readonly call: Call }
  | { readonly ack: Asked }
  /** It was told that the record is not there. */
  | { readonly refused: Asked }
  /** What became of the journal itself: an opening and a removal are said before they are tried. */
  | { readonly journal: "opening" | "opened" | "removing" | "removed" };
