import {
  array,
  boolean,
  enum as oneOf,
  int,
  maxLength,
  minLength,
  nonnegative,
  object,
  optional,
  positive,
  record,
  regex,
  string,
} from "zod/mini";
import type { infer as Infer, ZodMiniType } from "zod/mini";
import type { SteerOutcome } from "./events.ts";
import type { DaemonStatus, SessionDetails, SessionRow, SessionTree, TrustRow, WaitAnswer } from "./rows.ts";
import { waitConditions } from "./rows.ts";

const id = string().check(minLength(1));
const environment = record(string(), string());
const selected = { session: id };
/** Chosen by the client; kept with what it asked for, so it is short and of one line. */
const requestId = string().check(minLength(1), maxLength(200), regex(/^[^\p{Cc}]*$/u));
const mutation = { requestId };
const submission = object({ ...mutation, ...selected, text: string(), interrupt: optional(boolean()) });

/** What `doctor` may ask a daemon to do about a session, or, `resolve_requests`, about its own journal. */
export const repairs = [
  "assert_gone",
  "release_quarantine",
  "set_aside_session",
  "quarantine_journal",
  "resolve_journal",
  "resolve_requests",
] as const;
export type RepairName = (typeof repairs)[number];

interface Method {
  /** Mutations carry a request id, start a daemon where none runs and are refused by an owner that lost its home. */
  readonly mutating: boolean;
  readonly summary: string;
  readonly params: ZodMiniType;
}

/** Every request of the public socket: the source of types and validation. Names follow ACP where they mean the same. */
export const methods = {
  "session/new": {
    mutating: true,
    summary: "Create a session and start its worker.",
    params: object({
      ...mutation,
      cwd: id,
      name: optional(string()),
      agent: optional(string()),
      ensure: optional(boolean()),
      environment,
      secretEnvironment: optional(environment),
    }),
  },
  "session/resume": {
    mutating: true,
    summary: "Bring a session back to ready.",
    params: object({ ...mutation, ...selected, secretEnvironment: optional(environment) }),
  },
  "session/list": {
    mutating: false,
    summary: "One page of sessions, newest first.",
    params: object({
      archived: optional(boolean()),
      limit: optional(int().check(positive())),
      cursor: optional(string()),
    }),
  },
  "session/show": { mutating: false, summary: "One session in full.", params: object(selected) },
  "session/tree": {
    mutating: false,
    summary: "Sessions with their children, from one session or from all roots.",
    params: object({ session: optional(id) }),
  },
  "session/wait": {
    mutating: false,
    summary: "Waits until sessions are as asked, at most so long; one per session, or the first of any.",
    params: object({
      sessions: array(id).check(minLength(1)),
      for: oneOf(waitConditions),
      any: optional(boolean()),
      timeoutMs: int().check(nonnegative()),
    }),
  },
  "session/prompt": { mutating: true, summary: "Queue a prompt.", params: submission },
  "session/steer": { mutating: true, summary: "Reach the running turn.", params: submission },
  "session/follow_up": { mutating: true, summary: "Queue after the running turn.", params: submission },
  "session/cancel": {
    mutating: true,
    summary: "End the running turn.",
    params: object({ ...mutation, ...selected, actionId: optional(string()) }),
  },
  "session/attach": {
    mutating: false,
    summary: "Replay from a cursor, then follow; one per connection.",
    params: object({ ...selected, from: optional(string()), follow: boolean() }),
  },
  "session/stop": {
    mutating: true,
    summary: "Stop a session for certain.",
    params: object({
      ...mutation,
      ...selected,
      force: optional(boolean()),
      archive: optional(boolean()),
      wait: boolean(),
    }),
  },
  "session/unarchive": {
    mutating: true,
    summary: "Bring an archived session back to the list, stopped.",
    params: object({ ...mutation, ...selected }),
  },
  "session/retry": {
    mutating: true,
    summary: "Recover now: without the delay, and outside the budget of automatic recoveries.",
    params: object({ ...mutation, ...selected }),
  },
  "session/passivate": {
    mutating: true,
    summary: "Release an idle session's process; the next request activates it.",
    params: object({ ...mutation, ...selected }),
  },
  "session/rename": {
    mutating: true,
    summary: "Give a session another name.",
    params: object({ ...mutation, ...selected, name: string() }),
  },
  "session/set": {
    mutating: true,
    summary: "Set options of a session's agent.",
    params: object({ ...mutation, ...selected, options: record(string(), string()) }),
  },
  "session/delete": {
    mutating: true,
    summary: "Remove a session that has no process, with its transcript.",
    params: object({ ...mutation, ...selected }),
  },
  "daemon/status": { mutating: false, summary: "What the daemon is and has counted.", params: object({}) },
  "daemon/stop": {
    mutating: true,
    summary: "Passivate what is idle and end the daemon.",
    params: object({ ...mutation, mode: oneOf(["ask", "force", "keep_workers"]) }),
  },
  "trust/add": {
    mutating: true,
    summary:
      "Trust a directory, by its exact canonical path, as it is now. One that is trusted already stays as it is.",
    params: object({
      ...mutation,
      directory: id,
      /** What it was asked for as, where that was another spelling: for show. */
      via: optional(string().check(maxLength(4096))),
    }),
  },
  "trust/remove": {
    mutating: true,
    summary: "Trust a directory no more, whatever is there now.",
    params: object({ ...mutation, directory: id }),
  },
  "doctor/repair": {
    mutating: true,
    summary:
      "Do what a person decided about what cannot be proven or understood. Signals no worker, deletes no evidence.",
    params: object({
      ...mutation,
      repair: oneOf(repairs),
      /** A session, or the home where the repair is of the daemon's own journal. */
      subject: id,
      /** A person has asserted that no process of it lives; only `unknown` is believed gone for it, never what is seen to live. */
      asserted: optional(boolean()),
    }),
  },
} as const satisfies Record<string, Method>;

export type MethodName = keyof typeof methods;
export type MethodParams<M extends MethodName> = Infer<(typeof methods)[M]["params"]>;

export interface SubmitResult {
  readonly actionId: string;
  readonly status: "accepted" | SteerOutcome;
  readonly requestId: string;
  /** Cursor just before its `prompt_accepted`: attach from here to see all of it. */
  readonly cursor: string;
}

export interface MethodResults {
  "session/new": SessionRow & { created: boolean };
  "session/resume": SessionRow & { created: boolean };
  "session/list": { sessions: SessionRow[]; nextCursor?: string };
  "session/show": SessionDetails;
  "session/prompt": SubmitResult;
  "session/steer": SubmitResult;
  "session/follow_up": SubmitResult;
  "session/cancel": SessionRow;
  /** The events follow as notifications `session/event`; `session/attach_ended` closes the stream. */
  "session/attach": { sessionId: string; cursor: string };
  "session/tree": { sessions: SessionTree[] };
  /** One entry per session in the order of the request. */
  "session/wait": { sessions: WaitAnswer[] };
  "session/stop": SessionRow & { killAt?: string };
  "session/unarchive": SessionRow;
  "session/retry": SessionRow;
  "session/passivate": SessionRow;
  "session/rename": SessionRow;
  "session/set": SessionRow;
  /** As it was. */
  "session/delete": SessionRow;
  "daemon/status": DaemonStatus;
  "daemon/stop": { stopped: true; pid: number };
  "trust/add": TrustRow;
  /** `removed`: as it was found then. Otherwise it was not trusted, and nothing has changed. */
  "trust/remove": (TrustRow & { removed: true }) | { directory: string; removed: false };
  /** `done` is a sentence about what was done. */
  "doctor/repair": { subject: string; sessionId?: string; done: string };
}

/** Why an attachment's stream ended. `reattach`: attach again from the last cursor (worker lost, replaced or back). */
export const attachEndings = ["end", "reattach", "closing"] as const;
export type AttachEnding = (typeof attachEndings)[number];

export interface Notifications {
  hello: Hello;
  "session/event": import("./events.ts").SessionEvent;
  "session/attach_ended": { reason: AttachEnding };
}

export const PROTOCOL_VERSION = 1;
export const SCHEMA_REVISION = 3;

/** The first line of every connection, sent only once the daemon is ready to serve. */
export interface Hello {
  readonly protocol: { readonly name: "holdfast"; readonly version: number };
  readonly schemaRevision: number;
  readonly capabilities: readonly string[];
  readonly version: string;
  readonly epoch: number;
  readonly home: string;
  readonly pid: number;
  readonly startId: string;
}

/** Sent with a `session/attach` that starts at the beginning, or only with what comes. */
export const attachFrom = { start: "start", now: "now" } as const;
