import { ProtocolError } from "@holdfast/client/protocol";
import { join } from "node:path";
import type { Context } from "./context.ts";
import { followFile } from "./follow-file.ts";
import { lineByLine, readableLine } from "./log-line.ts";
import { TAIL_BYTES, logTail } from "./log-tail.ts";

/** The end of the daemon's log, readable on a terminal and raw elsewhere, and with `follow` what is added, over rotations, until interrupted. */
export async function daemonLogs({ io, options }: Context, follow: boolean): Promise<void> {
  const path = join(options.home, "logs/supervisor.log");
  const { text, size } = logTail(path, TAIL_BYTES);
  if (size === 0 && !follow)
    throw new ProtocolError("file_not_found", `no log yet: ${path}`, { hint: "agent daemon start" });
  const readable = io.stdout.isTTY && !options.json ? lineByLine(readableLine) : (raw: Buffer): Buffer => raw;
  await io.stdout.write(readable(text));
  if (follow) await followFile({ path, from: size }, (added) => io.stdout.write(readable(added)));
}
