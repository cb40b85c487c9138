/** One way to run a verb of `agent`, and what may come of it where numbers of its processes are others' now. */
export interface Row {
  /** As the help names it. */
  readonly verb: string;
  /** What follows; `S` stands for the id of the session. */
  readonly args: readonly string[];
  /** Exit codes that the contract has for it there (CLI.md §3). */
  readonly codes: readonly number[];
  /** States that its answer may show. */
  readonly states?: readonly string[];
  readonly stdout?: string;
  /** It starts and ends no process of its session, so it shares one with others. */
  readonly shares?: boolean;
  /** It runs until it is told to end, which is done once it serves. */
  readonly serves?: boolean;
}

const row = (verb: string, args: string, more: Partial<Row> = {}): Row => ({
  verb,
  args: args === "" ? [] : args.split(" "),
  codes: [0],
  ...more,
});
const gentle = (verb: string, args: string, more: Partial<Row> = {}): Row => row(verb, args, { shares: true, ...more });

/** Seen while it recovers, or after that. */
const recovered = { states: ["recovering", "starting", "ready"] };
const stopped = { states: ["stopped"] };
const ready = { states: ["ready"] };
const prompted = (verb: string): Row => ({ ...row(verb, ""), args: ["S", "echo served"], stdout: "served\n" });
const told = (verb: string, ...more: string[]): Row => ({
  ...row(verb, ""),
  args: ["S", "echo told", "--json", ...more],
});
const shared = (one: Row): Row => ({ ...one, shares: true });

/** Where a verb has a short form, one of the two is run where nobody lives and the other where somebody does. */
const readsOf = (session: "" | "session "): Row[] => [
  gentle(`${session}attach`, "S --no-follow --json"),
  gentle(`${session}logs`, "S"),
  gentle(`${session}wait`, "S --for failed --timeout 10ms", { codes: [8] }),
];
const unstarted = (one: Row): Row => ({ ...one, args: [...one.args, "--no-autostart"] });

/** They start no daemon. */
export const offlineReads: readonly Row[] = [
  ...readsOf("").map(unstarted),
  unstarted(gentle("session show", "S --json", recovered)),
  unstarted(gentle("session tree", "S --json")),
  unstarted(gentle("session transcript", "S --json")),
  unstarted(gentle("ls", "--json")),
  gentle("ps", "--json"),
  gentle("doctor", "--json"),
  gentle("help", ""),
  gentle("daemon help", "start"),
  gentle("session help", "stop"),
  gentle("version", "--json"),
  gentle("journal show", "/nowhere", { codes: [4] }),
  gentle("journal verify", "/nowhere", { codes: [4] }),
  gentle("journal help", "show"),
  gentle("trust list", "--json"),
  gentle("trust check", "--json"),
  gentle("trust help", "add"),
  gentle("ps", "--force-stop --all --dry-run --json"),
  gentle("daemon logs", ""),
  gentle("daemon status", "--json", { codes: [3] }),
  gentle("daemon stop", "--force --json"),
];
/** The first of them starts a successor. */
export const reads: readonly Row[] = [
  gentle("session show", "S --json", recovered),
  gentle("wait", "S --for idle --timeout 20s"),
  gentle("attach", "S --no-follow --json"),
  gentle("ls", "--json"),
];
export const liveReads: readonly Row[] = [
  ...readsOf("session "),
  gentle("session show", "S --json", recovered),
  gentle("session list", "--archived --json"),
  gentle("daemon status", "--json"),
];

const stop = row("stop", "S --json", stopped);
const forcedStop = row("stop", "S --force --json", stopped);
const archive = row("session archive", "S --json", stopped);
const resume = row("session resume", "S --json", ready);
/** It is recovering, or ready and idle by then. */
const passivate = row("session passivate", "S --json", { codes: [0, 5] });

export const mutations: readonly Row[] = [stop, forcedStop, archive, resume, passivate, prompted("prompt")];
export const gentleMutations: readonly Row[] = [
  gentle("trust add", "/ --yes --json"),
  gentle("trust remove", "/ --json"),
  gentle("session delete", "S --yes --json", { codes: [5] }),
  gentle("session unarchive", "S --json", { codes: [5] }),
  gentle("session retry", "S --json", recovered),
  gentle("session cancel", "S --json", recovered),
  gentle("session rename", "S renamed --json", recovered),
  gentle("session set", "S mode=plan --json", recovered),
  shared(told("session steer")),
  shared(told("session follow-up")),
  row("new", "--json", ready),
];
export const liveMutations: readonly Row[] = [
  row("session stop", "S --json", stopped),
  row("session stop", "S --force --archive --json", stopped),
  row("session stop", "S --no-wait --json", { codes: [0, 8], states: ["stopped", "stopping"] }),
  shared(prompted("session prompt")),
  gentle("session resume", "S --json", ready),
  gentle("session retry", "S --json", recovered),
  row("session new", "--name another --ensure --json", ready),
];

/** Those by which the process of a session would be hit, if one were: for every disguise. */
export const forcedStops: readonly Row[] = [forcedStop];
export const firm: readonly Row[] = [forcedStop, resume];

/** What a worker does to its agent, or to what the agent has left. */
export const agentVerbs: readonly Row[] = [
  stop,
  row("session cancel", "S --json", ready),
  told("session steer", "--interrupt"),
  prompted("prompt"),
];

const start = row("daemon start", "--json");
const forceStop = row("ps", "--force-stop --yes --json");
const forceStopAll = row("ps", "--force-stop --all --yes --json");

/** About a home as a whole, so each has a recycled home to itself. */
export const homeVerbs: readonly Row[] = [
  start,
  forceStop,
  forceStopAll,
  row("daemon restart", "--json"),
  row("daemon run", "", { serves: true }),
];
/** For every disguise. */
export const firmHomeVerbs: readonly Row[] = [forceStopAll];
/** For a record that number and start tick alone would call current. */
export const startingVerbs: readonly Row[] = [start];
export const liveHomeVerbs: readonly Row[] = [row("daemon stop", "--force --json"), forceStopAll];

/** For a stopped session that left a process which is not its to end without force. */
export const leftoverVerbs: readonly Row[] = [resume, row("session delete", "S --yes --json")];
export const leftoverHomeVerbs: readonly Row[] = [forceStopAll];

/** They have sent a first signal and are about to send another. */
export const underWay: readonly Row[] = [stop, forcedStop, forceStop];
