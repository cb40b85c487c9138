import { errnoOf } from "../errors.ts";
import { type ProcessPorts, systemPorts } from "../ports.ts";
import type { Marker } from "../types.ts";

export type MarkerSearch = "found" | "absent" | "vanished" | "denied" | "descriptors-exhausted";

/** Looks for exactly `NAME=VALUE` among the NUL-separated entries with which the process was started. */
export function searchEnvironment(ports: ProcessPorts, pid: number, marker: Marker): MarkerSearch {
  const entry = Buffer.from(`${marker.name}=${marker.value}`, "utf8").toString("latin1");
  const read = readEntries(ports, pid);
  if (read.kind !== "read") return read.kind;
  return read.entries.includes(`\0${entry}\0`) ? "found" : "absent";
}

export type Values = Readonly<Record<string, string>>;
export type ValuesRead = { readonly kind: "read"; readonly values: Values } | Unread;
type Unread = { readonly kind: "vanished" } | { readonly kind: "denied" } | { readonly kind: "descriptors-exhausted" };

/** The values of those of `names` that stand in the environment with which the process was started; of a repeated name the first. */
export function readValues(ports: ProcessPorts, pid: number, names: readonly string[]): ValuesRead {
  const read = readEntries(ports, pid);
  if (read.kind !== "read") return read;
  const { entries } = read;
  const values: Record<string, string> = {};
  for (const name of names) {
    const at = entries.indexOf(`\0${name}=`);
    if (at < 0) continue;
    const from = at + name.length + 2;
    values[name] = Buffer.from(entries.slice(from, entries.indexOf("\0", from)), "latin1").toString("utf8");
  }
  return { kind: "read", values };
}

/**
 * What of `names` stands in the environment with which a process was started; `null` where that may not be read, or nobody has the
 * number. It is the word of whoever started it, and of whoever has the number now.
 */
export function environmentValues(
  pid: number,
  names: readonly string[],
  ports: ProcessPorts = systemPorts,
): Values | null {
  const read = readValues(ports, pid, names);
  return read.kind === "read" ? read.values : null;
}

/** All entries, a NUL before and after each. */
function readEntries(ports: ProcessPorts, pid: number): { readonly kind: "read"; readonly entries: string } | Unread {
  try {
    return { kind: "read", entries: `\0${ports.readFile(`/proc/${pid}/environ`)}\0` };
  } catch (error) {
    switch (errnoOf(error) ?? "") {
      case "ENOENT":
      case "ESRCH":
        return { kind: "vanished" };
      case "EMFILE":
      case "ENFILE":
        return { kind: "descriptors-exhausted" };
      default:
        return { kind: "denied" };
    }
  }
}
