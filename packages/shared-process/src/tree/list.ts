import { reasonOf } from "../errors.ts";
import { createHostReader } from "../observe/host.ts";
import { whyProcIsBlind } from "../observe/observe.ts";
import type { ProcessPorts } from "../ports.ts";
import type { Host } from "../types.ts";

export type ProcessList =
  | { readonly kind: "listed"; readonly pids: readonly number[]; readonly host: Host }
  | { readonly kind: "blind"; readonly problem: string };

/** The numbers of all processes; never an empty list in place of one that could not be read (I117). */
export function listProcesses(ports: ProcessPorts): ProcessList {
  const blind = ports.platform === "linux" ? whyProcIsBlind(ports) : "unsupported";
  if (blind !== null) return { kind: "blind", problem: blind };
  try {
    const names = ports.listDirectory("/proc").filter((name) => /^\d+$/.test(name));
    return { kind: "listed", pids: names.map(Number), host: createHostReader(ports)() };
  } catch (error) {
    return { kind: "blind", problem: reasonOf(error) };
  }
}
