import type { ForceStopPlan, ForceStopReport } from "@holdfast/daemon-supervisor/offline";

type Home = ForceStopPlan["homes"][number];

/** What is going to happen, line by line, before anything does. */
export function planText({ homes, processes, kept, untouched, problems }: ForceStopPlan): string[] {
  const stops = [
    ...homes.flatMap(homeText),
    ...processes.map(({ identity, command, workerId }) => {
      const whose = workerId === null ? "of a session that no record names" : `of session ${workerId}`;
      return `will stop: process ${identity.pid} (${command}), left ${whose}`;
    }),
  ];
  return [
    ...(stops.length > 0 ? stops : [`nothing to stop in ${homes.map(({ home }) => home).join(", ")}`]),
    ...kept.map(({ kind, id, reason }) => `will keep: ${kind} ${id}: ${reason}`),
    ...untouchedText(untouched),
    ...problems.map((problem) => `not seen: ${problem}`),
  ];
}

function homeText({ home, daemons, workers, descriptors, unwritable }: Home): string[] {
  if (unwritable !== null) {
    const named = [
      ...daemons.map(({ pid }) => `daemon of ${home}, pid ${pid}`),
      ...workers.map(({ sessionId, name, pid }) => `worker of ${name ?? sessionId}, pid ${pid}`),
      ...descriptors.map(({ sessionId, name }) => `what is left of ${name ?? sessionId}`),
    ];
    const why = `no stop can be recorded: ${unwritable}`;
    return named.map((what) => `cannot stop: ${what}: ${why}`);
  }
  return [
    ...daemons.map(({ pid }) => `will stop: daemon of ${home}, pid ${pid}`),
    ...workers.map(({ sessionId, name, pid, verdict }) => {
      const proof = verdict === "current" ? "" : `, ${verdict}: only what can be proven is signalled`;
      return `will stop: worker of ${name ?? sessionId}, pid ${pid}${proof}`;
    }),
    ...descriptors.map(({ sessionId, name }) => `will clean up: ${name ?? sessionId}, whose process is gone`),
  ];
}

function untouchedText({ daemons, workers, processes }: ForceStopPlan["untouched"]): string[] {
  const counted = [
    [daemons, "daemon", "of other homes"],
    [workers, "worker", "of other homes"],
    [processes, "process", "that no session of this home is known to have left"],
  ] as const;
  return counted
    .filter(([count]) => count > 0)
    .map(([count, noun, whose]) => `not touched: ${count} ${count === 1 ? noun : plural(noun)} ${whose}`);
}

const plural = (noun: string): string => (noun.endsWith("s") ? `${noun}es` : `${noun}s`);

export function reportText({ stopped, kept, failed }: ForceStopReport): string {
  return [
    `stopped ${stopped.length}, kept ${kept.length}${failed.length > 0 ? `, failed ${failed.length}` : ""}`,
    ...failed.map(({ kind, id, pid, reason }) => `not stopped: ${kind} ${id}${pid ? ` (pid ${pid})` : ""}: ${reason}`),
  ].join("\n");
}
