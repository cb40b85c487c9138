import type { Changes } from "../changes.ts";
import type { Channels } from "../effects/channels.ts";
import type { Context } from "../effects/context.ts";
import type { Ender } from "../effects/end.ts";
import type { Stores } from "../effects/stores.ts";
import type { Lanes } from "../lanes.ts";
import type { Records } from "../records.ts";
import type { Sessions } from "../sessions.ts";
import type { Trust } from "../trust.ts";
import type { Names } from "./names.ts";
import type { Requests } from "./requests.ts";
import type { Submissions } from "./submissions.ts";

/** What request handlers work with. */
export interface Services {
  readonly context: Context;
  readonly sessions: Sessions;
  readonly channels: Channels;
  readonly stores: Stores;
  readonly ender: Ender;
  readonly records: Records;
  readonly requests: Requests;
  readonly submissions: Submissions;
  readonly names: Names;
  readonly changes: Changes;
  readonly trust: Trust;
  /** Verbs that write a session's record or bring it back run one after the other. */
  readonly lanes: Lanes;
  /** Ends this daemon after the answer has left; workers stay. */
  readonly shutdown: (why: string) => void;
  readonly socketPath: () => string | null;
  readonly status: () => "current" | "ownership-lost";
}
