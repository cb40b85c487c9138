import type { Random } from "./random.ts";
import type { FaultKind } from "./swarm.ts";
import type { Kind, SimProcess } from "./world/sim-process.ts";
import type { World } from "./world/world.ts";

/** Calls of a supervisor between two fsyncs or so; a fuse of at most this length hits any of them. */
const LONGEST_FUSE = 120;

const LONGEST_STALL_MS = 20_000;

const livingOf = (world: World, kind: Kind): SimProcess[] =>
  world.machine.processes().filter((process) => process.kind === kind && process.isAlive);

/** How long something lasts: mostly a moment, now and then longer than any deadline. */
const spell = (random: Random): number =>
  random.pick([random.between(10, 300), random.between(300, 6_000), random.chance(0.2) ? 600_000 : 20_000]);

function withOne(world: World, kind: Kind, act: (process: SimProcess) => void): void {
  const living = livingOf(world, kind);
  if (living.length > 0) act(world.random.pick(living));
}

function freeze(world: World, kind: Kind): void {
  withOne(world, kind, (process) => {
    process.freeze();
    world.scheduler.plan(spell(world.random), `${process.label} is thawed`, () => process.thaw());
  });
}

export const faults: { readonly [K in FaultKind]: (world: World) => void } = {
  kill_supervisor: (world) => withOne(world, "supervisor", (process) => process.end()),
  kill_supervisor_in_a_call: (world) =>
    withOne(world, "supervisor", (process) => process.light(world.random.between(1, LONGEST_FUSE))),
  kill_worker: (world) => withOne(world, "worker", (process) => process.end()),
  kill_worker_in_a_call: (world) =>
    withOne(world, "worker", (process) => process.light(world.random.between(1, LONGEST_FUSE))),
  kill_agent: (world) => withOne(world, "agent", (process) => process.end()),
  terminate_supervisor: (world) => withOne(world, "supervisor", (process) => process.signalled("SIGTERM")),
  terminate_worker: (world) => withOne(world, "worker", (process) => process.signalled("SIGTERM")),
  freeze_supervisor: (world) => freeze(world, "supervisor"),
  freeze_worker: (world) => freeze(world, "worker"),
  hide_process: (world) =>
    withOne(world, world.random.pick(["worker", "worker", "supervisor", "agent"]), (process) => {
      const { machine } = process;
      machine.hide(process);
      world.scheduler.plan(spell(world.random), `${process.label} is shown`, () => machine.show(process));
    }),
  cut_link: (world) => world.network.cut(),
  // Not for as long as a process may stand still: what has ended is closed by its kernel, whatever it had to say.
  stall_link: (world) => world.network.stall(Math.min(spell(world.random), LONGEST_STALL_MS)),
  slow_disk: (world) => world.stallDisk(world.random.between(10, 8_000)),
  full_disk: (world) => {
    const { disk } = world;
    disk.capacityBytes = disk.usedBytes + world.random.pick([0, 300, 5_000]);
    world.scheduler.plan(world.random.between(500, 30_000), "the disk has room", () => (disk.capacityBytes = Infinity));
  },
  // One at a time: a disk that fails again and again at the same place is damage, which is shown and left to a person.
  disk_error: (world) => {
    const call = world.random.pick(["write", "fsync", "fdatasync", "rename", "link", "open", "unlink"] as const);
    const errno = world.random.pick(["EIO", "ENOSPC"]);
    world.diskFault = {
      call,
      // A file is opened for reading on a full disk, too.
      errno: call === "open" ? "EIO" : errno,
      effect: world.random.pick(["none", "half", "all"]),
      left: world.random.between(1, 12),
    };
  },
  cut_power: (world) => world.cutPower(),
  // Less than the window of remembered requests, which is counted by the wall clock.
  step_clock: (world) => world.machine.setWallClock(world.random.between(-10 * 3_600_000, 10 * 3_600_000)),
  remove_socket: (world) => world.network.removeOne(),
  second_supervisor: (world) => world.startSupervisor(),
  other_host: (world) => world.startSupervisor(world.otherHost),
  suspend: (world) => {
    const wake = world.machine.suspend();
    world.scheduler.plan(spell(world.random), "the machine wakes", wake);
  },
  strangers: (world) => {
    for (let count = world.random.between(1, 12); count > 0; count -= 1) stranger(world);
  },
};

/** Somebody else's process, which takes the next number and keeps it for a while. */
function stranger(world: World): void {
  const { machine, random } = world;
  try {
    const process = machine.spawn({
      kind: "stranger",
      label: world.nextLabel("x"),
      parent: null,
      environment: {},
      detached: true,
    });
    world.scheduler.plan(random.between(1, 20_000), `${process.label} ends`, () => process.end());
  } catch {
    // All numbers are given.
  }
}

/** Plans the faults of a world, one after the other. */
export function planFaults(world: World): void {
  const { faults: kinds, faultEveryMs } = world.swarm;
  if (kinds.length === 0) return;
  const next = (): void => {
    world.scheduler.plan(world.random.between(1, faultEveryMs), "fault", () => {
      if (!world.isFaulty) return;
      const kind = world.random.pick(kinds);
      world.trace(`fault ${kind}`);
      faults[kind](world);
      next();
    });
  };
  next();
}
