import type { DaemonStatus, Problem, RepairName, SessionRow } from "@holdfast/client/protocol";
import type { JournalReport } from "@holdfast/recovery-journal";
import type { Capabilities } from "@holdfast/shared-process";
import type { RecordRead } from "../../session-record-file.ts";
import type { Descriptor } from "../../descriptor.ts";
import type { Life } from "../../life.ts";
import type { RecordVerdict } from "@holdfast/session-worker/transport";
import type { Orphan } from "../orphans.ts";
import type { OfflineOwner } from "../owner.ts";
import type { Unwritable } from "../unwritable.ts";
import type { TranscriptFault } from "./look-transcript.ts";
import type { FoundDirectory } from "../../trust-list.ts";
import type { UnsafeFolder } from "./modes.ts";

/** What the daemon of a home says of itself and its sessions. */
export type Answer =
  | { readonly kind: "none" }
  | { readonly kind: "silent" }
  | { readonly kind: "other_protocol"; readonly why: string }
  | {
      readonly kind: "answers";
      readonly version: string;
      readonly status: DaemonStatus["status"];
      readonly rows: readonly SessionRow[];
    };

export interface SeenSession {
  readonly sessionId: string;
  readonly record: RecordRead | null;
  readonly descriptor:
    | { readonly descriptor: Descriptor; readonly verdict: RecordVerdict; readonly held: boolean }
    | { readonly damaged: string; readonly isOlder?: boolean }
    | null;
  readonly intents: readonly string[];
  /** Its records that this user may not read, each with its errno: that says nothing about what stands in them. */
  readonly denied: readonly string[];
  readonly journal: JournalReport;
  readonly transcript: TranscriptFault;
  /** Only of a session of which something is wrong. */
  readonly life: Life;
  /** As the daemon shows it; `null` where none answers, or it does not know it. */
  readonly row: SessionRow | null;
}

/** The directories that are trusted, or why nobody can tell. */
export type SeenTrust =
  | { readonly kind: "list"; readonly directories: readonly FoundDirectory[] }
  | { readonly kind: "malformed" | "unreadable"; readonly reason: string };

export interface SeenHome {
  readonly home: string;
  readonly owner: OfflineOwner;
  /** The highest that has a name; `null` where there is none, or none can be read. */
  readonly epoch: number | null;
  readonly answer: Answer;
  /** Supervisors that hold the home and do not own it. */
  readonly lost: readonly number[];
  readonly requests: JournalReport;
  readonly requestsAside: readonly string[];
  readonly trust: SeenTrust;
  readonly orphans: readonly Orphan[];
  readonly unsafe: readonly UnsafeFolder[];
  readonly unwritable: readonly Unwritable[];
  readonly capabilities: Pick<Capabilities, "boundSignals" | "peers" | "reason"> | null;
  /** `denied`: for want of permission. */
  readonly unseen: readonly { readonly subject: string; readonly reason: string; readonly denied: boolean }[];
  /** Of this command. */
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export interface Seen extends SeenHome {
  readonly sessions: readonly SeenSession[];
}

/** How a repair is done: by the daemon, which owns the records, or by the command where there is none, or none is needed. */
export type Action =
  | { readonly by: "daemon"; readonly repair: RepairName; readonly subject: string }
  | { readonly by: "command"; readonly what: "claim_above"; readonly epoch: number }
  | { readonly by: "command"; readonly what: "make_private"; readonly paths: readonly string[] }
  | { readonly by: "command"; readonly what: "move_aside"; readonly paths: readonly string[] };

export interface Finding {
  readonly problem: Problem;
  readonly action: Action | null;
}
