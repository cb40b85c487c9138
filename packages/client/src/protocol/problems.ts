/** What `agent doctor` may find, each with its meaning. The one table of kinds; a closed set. */
export const problemKinds = {
  owner_unknown: "nobody can tell whether the recorded owner of the home lives, so no daemon starts",
  ownership_lost: "a daemon that no longer owns the home still runs",
  daemon_silent: "the daemon runs and does not answer",
  daemon_protocol: "the daemon speaks another protocol than this command",
  daemon_stale: "the daemon is of another version than this command",
  session_unreadable:
    "a session's own record cannot be understood; the session is inert, unless a daemon has it in memory",
  descriptor_damaged:
    "the record of a worker cannot be understood; its session is inert, unless a daemon has it in memory",
  session_quarantined: "a session's records do not prove what they say; the session is inert",
  worker_unknown: "nobody can tell whether a worker lives, so its session waits",
  stop_degraded: "a stop has not ended within ten minutes",
  session_failed: "a session waits for a person",
  session_degraded: "a session runs and its records take nothing",
  in_doubt: "work was begun, and its outcome is not known; it is not done again",
  journal_damaged: "a session's journal is corrupt; nothing of it is believed or served",
  journal_unreadable: "a session's journal cannot be read now, or not by this version",
  journal_quarantined: "a session's journal was put aside, and nobody has said what is to become of it",
  transcript_damaged:
    "a session's transcript was taken away, or what is in its place cannot be read, in part or at all",
  requests_damaged: "the daemon's own journal of requests cannot be read",
  requests_quarantined: "the daemon's own journal of requests was put aside; mutations are refused",
  requests_set_aside: "a damaged journal of requests is kept as evidence; what it remembered is forgotten",
  intent_unfinished: "a stop was written for a session that does not exist",
  leftover: "a process that a session left still runs",
  unsafe_mode:
    "others may read, write or enter what is the user's alone, or something else is in the place of a folder or file",
  home_unwritable: "nothing can be written in a folder of the home: requests are refused, and no daemon starts",
  trust_malformed:
    "the list of trusted directories cannot be understood: nothing is trusted, and nothing is added to it",
  trust_replaced: "something else is in the place of a trusted directory, which is not trusted therefore",
  trust_missing: "a trusted directory is not there",
  trust_unreadable: "a trusted directory, or the list of them, cannot be looked at: until it can, it is not trusted",
  narrow_signals: "signals are not bound to a process by the kernel: a short window remains",
  no_peer_check: "the user at the other end of a socket cannot be checked; the directory's mode is the check",
  not_seen: "something could not be looked at: what is missing here may exist all the same",
} as const satisfies Record<string, string>;

export type ProblemKind = keyof typeof problemKinds;

/** A person's words that no general consent stands for: that nothing lives, or that something may be lost. */
export const assertions = {
  gone: { option: "--assert-gone", text: "that no process of it lives" },
  loss: { option: "--accept-loss", text: "that what it held may be lost" },
} as const;
export type Assertion = keyof typeof assertions;

/** One finding of `agent doctor`. */
export interface Problem {
  readonly kind: ProblemKind;
  /** A session's id, a path, a process. */
  readonly subject: string;
  readonly reason: string;
  /** What would be done, or what a person can do. */
  readonly repair?: string;
  /** Set where `--repair` can do it: what a person has to assert for that. */
  readonly needs?: readonly Assertion[];
}
