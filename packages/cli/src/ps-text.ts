import type { PsReport } from "@holdfast/daemon-supervisor/offline";
import { mebibytes } from "./rows.ts";
import { table } from "./table.ts";
import type { Colour, Column, TableStyle } from "./table.ts";

type Worker = PsReport["workers"][number];

const verdictColours: Readonly<Record<string, Colour>> = { current: "green", unknown: "yellow", gone: "dim" };

const columns: readonly Column<Worker>[] = [
  { title: "PID", text: ({ pid }) => String(pid ?? "-") },
  { title: "SESSION", text: ({ sessionId }) => sessionId },
  { title: "NAME", text: ({ name }) => name ?? "-", shrinks: true },
  { title: "STATE", text: ({ state }) => state },
  { title: "VERDICT", text: ({ verdict }) => verdict, colour: ({ verdict }) => verdictColours[verdict] ?? null },
  { title: "MEMORY", text: ({ memoryBytes }) => mebibytes(memoryBytes) },
];

/** Workers under the daemon of their home; then what has no record. */
export function psText({ daemons, workers, orphans, scan }: PsReport, style: TableStyle): string {
  const homes = [...new Set([...daemons, ...workers].map(({ home }) => home))];
  const groups = homes.map((home) => {
    const daemon = daemons.find((candidate) => candidate.home === home);
    const head = daemon ? `${home}: ${daemonText(daemon)}` : `${home}: no daemon`;
    const own = workers.filter((worker) => worker.home === home);
    return own.length === 0 ? `${head}\nno workers` : `${head}\n${table(own, columns, style)}`;
  });
  const lost = orphans.map(
    ({ pid, workerId }) =>
      `orphan: pid ${pid} of ${workerId === null ? "a session that no record names" : `worker ${workerId}`}`,
  );
  const problems = scan.problems.map((problem) => `not seen: ${problem}`);
  const parts = [...groups, ...lost, ...problems];
  return parts.length === 0 ? "no daemons and no workers" : parts.join("\n");
}

function daemonText({ status, pid, epoch, uptimeSeconds }: PsReport["daemons"][number]): string {
  const up = uptimeSeconds === null ? "" : `, up ${Math.round(uptimeSeconds)} s`;
  return `daemon ${status}, pid ${pid}, epoch ${epoch ?? "?"}${up}`;
}
