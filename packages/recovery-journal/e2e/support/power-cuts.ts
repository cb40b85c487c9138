import { readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { anywhere, engineOf } from "./kill-rounds.ts";
import { WriterLedger } from "./writer-ledger.ts";
import { PrivateMounts } from "./private-mounts.ts";
import { runWriter, writerCommand, WriterRun } from "./writer-run.ts";

const MIB = 1024 * 1024;

/** `imageBytes`: the least that the file system takes (XFS: 300 MiB). The image is sparse. */
export const fileSystems = {
  ext4: { make: ["mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"], imageBytes: 48 * MIB },
  xfs: { make: ["mkfs.xfs", "-q", "-f"], imageBytes: 320 * MIB },
} as const;
export type FileSystemName = keyof typeof fileSystems;

/** Commands that a cut of this file system's power needs. */
export function needs(fileSystem: FileSystemName): readonly string[] {
  return ["unshare", "nsenter", "mount", "losetup", "perl", fileSystems[fileSystem].make[0]];
}

export interface PowerCuts {
  readonly fileSystem: FileSystemName;
  readonly rounds: number;
  /** What the writers leave out: the proof that the cuts are cuts. */
  readonly without?: "fdatasync";
  /** An empty directory, for the image and its mount. */
  readonly root: string;
}

/**
 * One journal on a loop-mounted file system, and in each round a writer that is frozen somewhere in its work, after which the
 * file system is shut down without writing anything more, not even its log, and mounted again.
 */
export async function powerCuts(options: PowerCuts): Promise<WriterLedger> {
  const { fileSystem, rounds, without, root } = options;
  const ledger = new WriterLedger();
  const image = join(root, "image");
  const { make, imageBytes } = fileSystems[fileSystem];
  writeFileSync(image, "");
  truncateSync(image, imageBytes);
  await using mounts = await PrivateMounts.open();
  mounts.run(...make, image);
  const mountPoint = "/mnt";
  const mount = (): string => mounts.run("mount", "-t", fileSystem, "-o", "loop", image, mountPoint);
  const writerOf = (round: number, steps: number | null): readonly string[] => {
    const plan = { directory: `${mountPoint}/journal`, generation: `g${round}`, seed: round, steps, without };
    return mounts.inside(...writerCommand({ ...plan, engine: engineOf(round) }));
  };
  for (let round = 1; round <= rounds; round += 1) {
    mount();
    const writer = new WriterRun(writerOf(round, null), ledger);
    await anywhere(writer);
    writer.signal("SIGSTOP");
    await frozen(writer.pid);
    shutDown(mounts, mountPoint);
    writer.signal("SIGKILL");
    const { code, stderr } = await writer.ended();
    if (code !== "SIGKILL") throw new Error(`the writer ended by ${code}: ${stderr}`);
    mounts.run("umount", mountPoint);
  }
  mount();
  await runWriter(writerOf(rounds + 1, 1), ledger);
  mounts.run("umount", mountPoint);
  return ledger;
}

/** `_IOR('X', 125, u32)`: EXT4_IOC_SHUTDOWN, and XFS_IOC_GOINGDOWN. */
const SHUTDOWN_REQUEST = 0x80_04_58_7d;
/** As if the power went: neither data nor the log is written. */
const NO_LOG_FLUSH = 2;

function shutDown(mounts: PrivateMounts, mountPoint: string): void {
  const program = `
    open(my $directory, "<", $ARGV[0]) or die "open: $!";
    my $flags = pack("L", ${NO_LOG_FLUSH});
    defined ioctl($directory, ${SHUTDOWN_REQUEST}, $flags) or die "shutdown: $!";`;
  mounts.run("perl", "-e", program, mountPoint);
}

const STOPPED_OR_IN_THE_KERNEL = /^[TD]$/;

/**
 * Waits until no thread can run a line of the program: it is stopped, or in a call of the kernel on whose way back it stops.
 * Otherwise it could acknowledge a flush that the kernel took back after the shutdown, which a power cut leaves no time for.
 */
async function frozen(pid: number): Promise<void> {
  const isFrozen = (): boolean =>
    readdirSync(`/proc/${pid}/task`).every((task) => {
      const stat = readFileSync(`/proc/${pid}/task/${task}/stat`, "utf8");
      return STOPPED_OR_IN_THE_KERNEL.test(stat.charAt(stat.lastIndexOf(")") + 2));
    });
  while (!isFrozen()) await delay(1);
}
