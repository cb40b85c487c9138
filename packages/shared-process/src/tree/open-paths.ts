import { errnoOf } from "../errors.ts";
import { type ProcessPorts, systemPorts } from "../ports.ts";

export type OpenPaths =
  | { readonly kind: "read"; readonly paths: readonly string[] }
  | { readonly kind: "unreadable"; readonly why: "vanished" | "denied" | "descriptors-exhausted" };

/**
 * What a process has open, as the kernel names it: the real path of a file or FIFO, with ` (deleted)` behind it when its
 * name is gone, and `socket:[…]` and the like.
 */
export function openPaths(pid: number, ports: ProcessPorts = systemPorts): OpenPaths {
  const folder = `/proc/${pid}/fd`;
  try {
    return { kind: "read", paths: ports.listDirectory(folder).flatMap((name) => linkOf(ports, `${folder}/${name}`)) };
  } catch (error) {
    const errno = errnoOf(error) ?? "";
    if (errno === "ENOENT" || errno === "ESRCH") return { kind: "unreadable", why: "vanished" };
    const exhausted = errno === "EMFILE" || errno === "ENFILE";
    return { kind: "unreadable", why: exhausted ? "descriptors-exhausted" : "denied" };
  }
}

function linkOf(ports: ProcessPorts, path: string): string[] {
  try {
    return [ports.readLink(path)];
  } catch (error) {
    // Closed since the listing.
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}
