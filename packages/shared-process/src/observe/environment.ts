import { errnoOf } from "../errors.ts";
import type { ProcessPorts } from "../ports.ts";
import type { Marker } from "../types.ts";

export type MarkerSearch = "found" | "absent" | "vanished" | "denied" | "descriptors-exhausted";

/** Looks for exactly `NAME=VALUE` among the NUL-separated entries with which the process was started. */
export function searchEnvironment(ports: ProcessPorts, pid: number, marker: Marker): MarkerSearch {
  const entry = Buffer.from(`${marker.name}=${marker.value}`, "utf8").toString("latin1");
  try {
    return `\0${ports.readFile(`/proc/${pid}/environ`)}\0`.includes(`\0${entry}\0`) ? "found" : "absent";
  } catch (error) {
    switch (errnoOf(error) ?? "") {
      case "ENOENT":
      case "ESRCH":
        return "vanished";
      case "EMFILE":
      case "ENFILE":
        return "descriptors-exhausted";
      default:
        return "denied";
    }
  }
}
