import { errnoOf } from "../errors.ts";
import { type ProcessPorts, systemPorts } from "../ports.ts";

export interface OpenPath {
  /** The number of its descriptor, as text. */
  readonly fd: string;
  /**
   * As the kernel names it: the real path of a file or FIFO, with ` (deleted)` behind it when its name is gone, and `socket:[…]` and the
   * like. A path of the process's mount namespace: `placeOf` says whether it is the one here.
   */
  readonly path: string;
}

export type OpenPaths =
  | { readonly kind: "read"; readonly open: readonly OpenPath[] }
  | { readonly kind: "unreadable"; readonly why: "vanished" | "denied" | "descriptors-exhausted" };

/** What a process has open. */
export function openPaths(pid: number, ports: ProcessPorts = systemPorts): OpenPaths {
  const folder = `/proc/${pid}/fd`;
  try {
    return { kind: "read", open: ports.listDirectory(folder).flatMap((fd) => linkOf(ports, folder, fd)) };
  } catch (error) {
    const errno = errnoOf(error) ?? "";
    if (errno === "ENOENT" || errno === "ESRCH") return { kind: "unreadable", why: "vanished" };
    const exhausted = errno === "EMFILE" || errno === "ENFILE";
    return { kind: "unreadable", why: exhausted ? "descriptors-exhausted" : "denied" };
  }
}

function linkOf(ports: ProcessPorts, folder: string, fd: string): OpenPath[] {
  try {
    return [{ fd, path: ports.readLink(`${folder}/${fd}`) }];
  } catch (error) {
    // Closed since the listing.
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}
