import { reasonOf } from "../errors.ts";
import { findPlace } from "./place.ts";
import { type CgroupPorts, systemCgroupPorts } from "./ports.ts";

export type LeftCgroup =
  | { readonly kind: "left"; readonly path: string }
  /** No group that this process is in, or that is above it, has such a name. */
  | { readonly kind: "stayed" }
  | { readonly kind: "failed"; readonly reason: string };

/**
 * Moves this process out of the outermost group whose name fits, into the one above it: for a program that is to outlive whoever
 * started it. What it has forked before stays where it is.
 */
export function leaveCgroup(isLeft: (name: string) => boolean, ports: CgroupPorts = systemCgroupPorts): LeftCgroup {
  const place = findPlace(ports);
  if (place.kind === "unavailable") return { kind: "stayed" };
  const names = place.own.slice(place.top.length).split("/").slice(1);
  const at = names.findIndex(isLeft);
  if (at < 0) return { kind: "stayed" };
  const path = [place.top, ...names.slice(0, at)].join("/");
  try {
    // 0 is whoever writes it, with all threads.
    ports.writeFile(`${path}/cgroup.procs`, "0");
    return { kind: "left", path };
  } catch (error) {
    return { kind: "failed", reason: reasonOf(error) };
  }
}
