import { errnoOf } from "../errors.ts";
import type { ProcessPorts } from "../ports.ts";
import type { Host } from "../types.ts";

const MACHINE_ID_FILES = ["/etc/machine-id", "/var/lib/dbus/machine-id"];

/**
 * Reads the host once and keeps what could be read: none of it changes while this process lives. What could not be
 * read is tried again.
 */
export function createHostReader(ports: ProcessPorts): () => Host {
  let host: Host = { machineId: null, bootId: null, pidNamespace: null, timeNamespace: null };
  return () => {
    if (isWhole(host)) return host;
    host = {
      machineId: host.machineId ?? readMachineId(ports),
      bootId: host.bootId ?? readMatching(ports, "/proc/sys/kernel/random/boot_id", /^[0-9a-f-]{36}$/),
      pidNamespace: host.pidNamespace ?? readNamespace(ports, "pid"),
      timeNamespace: host.timeNamespace ?? readNamespace(ports, "time"),
    };
    return host;
  };
}

const isWhole = (host: Host): boolean =>
  host.machineId !== null && host.bootId !== null && host.pidNamespace !== null && host.timeNamespace !== null;

function readMachineId(ports: ProcessPorts): string | null {
  for (const path of MACHINE_ID_FILES) {
    const id = readMatching(ports, path, /^[0-9a-f]{32}$/);
    if (id !== null) return id;
  }
  return null;
}

function readMatching(ports: ProcessPorts, path: string, pattern: RegExp): string | null {
  try {
    const text = ports.readFile(path).trim();
    return pattern.test(text) ? text : null;
  } catch {
    // A field that cannot be read is recorded as missing, and a missing field authorises nothing.
    return null;
  }
}

function readNamespace(ports: ProcessPorts, name: "pid" | "time"): string | null {
  try {
    return ports.readLink(`/proc/self/ns/${name}`);
  } catch (error) {
    // Kernels before 5.6 have no time namespaces: there "none" is the value, and equal for all of one boot.
    if (name === "time" && errnoOf(error) === "ENOENT" && readNamespace(ports, "pid") !== null) return "none";
    return null;
  }
}
