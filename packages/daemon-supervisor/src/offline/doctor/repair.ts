import { ensurePrivateDirectory, nodeFileSystem, syncDirectory } from "@holdfast/recovery-journal";
import { CodedError, systemClock } from "@holdfast/shared-process";
import { basename, dirname } from "node:path";
import { damagedFolder, timeInName } from "../../home.ts";
import { claimFor } from "../../main.ts";
import { systemWorld } from "../../world.ts";
import { ownerState } from "../owner.ts";
import { askDaemon } from "./answer.ts";
import { makePrivate } from "./modes.ts";
import type { Action } from "./seen.ts";

/** Repairs that need no daemon. Rejects when nothing was done. Gives what was done, as a sentence. */
export async function repairHere(home: string, action: Extract<Action, { by: "command" }>): Promise<string> {
  switch (action.what) {
    case "claim_above":
      return await claimAbove(home, action.epoch);
    case "make_private":
      makePrivate(action.paths);
      return "only this user may reach it now";
    case "move_aside":
      return moveAside(home, action.paths);
  }
}

/** Takes the home from an owner that a person asserted to be gone, and leaves it at once: the next daemon starts as after a stop. */
async function claimAbove(home: string, asserted: number): Promise<string> {
  const answer = await askDaemon(home, ownerState(home));
  if (answer.kind !== "none") throw refused("a daemon answers now");
  const { claim } = await claimFor({ home, phase: "maintenance", world: systemWorld(), assertedGone: asserted });
  if (claim.kind === "refused")
    throw refused(claim.state.kind === "unknown" ? claim.state.why : "its owner has been found alive");
  claim.ownership.leave();
  return `the home is free, above epoch ${claim.ownership.epoch}; its sessions come back with the next command`;
}

function moveAside(home: string, paths: readonly string[]): string {
  const target = `${damagedFolder(home)}/${timeInName(systemClock.now())}`;
  ensurePrivateDirectory(nodeFileSystem, target);
  for (const path of paths) {
    nodeFileSystem.rename(path, `${target}/${basename(path)}`);
    syncDirectory(nodeFileSystem, dirname(path));
  }
  syncDirectory(nodeFileSystem, target);
  return `moved to ${target}`;
}

const refused = (why: string): CodedError<"ownership_lost"> =>
  new CodedError("ownership_lost", `nothing was changed: ${why}`);
