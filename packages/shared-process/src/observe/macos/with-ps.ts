import type { ProcessPorts } from "../../ports.ts";
import type { Run } from "../run.ts";
import { isAbsent } from "../system-look.ts";
import { COMMON_CAPABILITIES, createHostMemory, type System, systemError, UNHELD } from "../system.ts";
import { comparable } from "./identity.ts";

/** Two processes of about 10 ms each second, however many are watched. */
const LOOK_INTERVAL_MS = 1_000;

/** `Tue Jan  2 03:04:05 2024 Ss 4711 1`: `lstart` in the C locale, `state`, `pgid`, `ppid`. */
const LINE = /^(\w{3}) (\w{3}) +(\d+) (\d\d:\d\d:\d\d) (\d{4}) +(\S+) +(\d+) +(\d+)$/;

/** macOS without the library: starts in whole seconds, and a signal after a look that is some milliseconds old. */
export function createPsSystem(ports: ProcessPorts, run: Run, reason: string | null): System {
  const host = createHostMemory(
    () =>
      /"IOPlatformUUID" = "([^"]+)"/.exec(run("/usr/sbin/ioreg", ["-rd1", "-c", "IOPlatformExpertDevice"]))?.[1] ?? "",
    () => run("/usr/sbin/sysctl", ["-n", "kern.bootsessionuuid"]),
  );
  return {
    capabilities: {
      ...COMMON_CAPABILITIES,
      backend: "macos-narrow",
      reason,
      kernelIds: false,
      boundSignals: false,
      exitStatus: false,
    },
    via: "narrow-window",
    host,
    comparable,
    // `ps -E` puts blanks between entries, so that an argument could pass for one.
    environmentOf: null,
    lookIntervalMs: LOOK_INTERVAL_MS,
    look: (pid) => {
      if (isAbsent(ports, pid)) throw systemError("ESRCH", "kill");
      // One keyword per option: everything after `=` would be the heading.
      const columns = ["lstart=", "state=", "pgid=", "ppid="].flatMap((column) => ["-o", column]);
      const line = run("/bin/ps", [...columns, "-p", String(pid)]).trim();
      if (line === "") throw systemError("ESRCH", "ps");
      const seen = parseLine(line);
      return seen === null
        ? null
        : {
            ...UNHELD,
            identity: { ...host(), pid, startTicks: seen.startTicks, pidfsInode: null },
            isDefunct: seen.state.startsWith("Z"),
            group: seen.group,
            parent: seen.parent,
            signal: (signal) => ports.kill(pid, signal),
          };
    },
  };
}

interface Line {
  readonly startTicks: string | null;
  readonly state: string;
  readonly group: number;
  readonly parent: number;
}

function parseLine(line: string): Line | null {
  const [, weekday, month, day = "", time, year, state = "", group, parent] = LINE.exec(line) ?? [];
  // The one format besides ISO that every engine must read.
  const seconds = Date.parse(`${weekday}, ${day.padStart(2, "0")} ${month} ${year} ${time} GMT`) / 1_000;
  if (Number.isNaN(seconds)) return null;
  // The epoch itself stands for a start that is not known.
  const startTicks = seconds > 0 ? `${seconds}000000` : null;
  return { startTicks, state, group: Number(group), parent: Number(parent) };
}
