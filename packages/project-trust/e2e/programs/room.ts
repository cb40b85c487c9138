import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import type { Binding } from "../../src/bindings.ts";
import type { Grant } from "../../src/types.ts";

const [, , given = ""] = process.argv;

/** Where a program works: its own, and removed after it. */
export const room = given;

export function directory(...names: readonly string[]): string {
  const path = join(room, ...names);
  mkdirSync(path, { recursive: true });
  return path;
}

export const run = (command: string, ...args: readonly string[]): string =>
  execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

export const verdictOf = (answer: { readonly kind: string; readonly reason?: string }): string =>
  answer.reason ?? answer.kind;

export function granted(grant: Grant): Binding {
  if (grant.kind === "granted") return grant.binding;
  throw new Error(`${grant.reason}: ${grant.detail}`);
}

/**
 * How many descriptors of this process lead to files and directories; what Node opens for itself are devices and pipes.
 */
export const openFiles = (): number =>
  readdirSync("/proc/self/fd").filter((descriptor) => /^\/(?!dev\/|proc\/)/.test(linkOf(descriptor))).length;

function linkOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    // The one by which they were listed.
    return "";
  }
}
