import {
  accessSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statfsSync,
  watch,
  writeSync,
} from "node:fs";

/** The few calls by which cgroups are made, filled, watched and ended. All are synchronous and throw system errors. */
export interface CgroupPorts {
  readFile(path: string): string;
  /** One write(2) of the whole text to a file that is there: the kernel takes each write as one order. */
  writeFile(path: string, text: string): void;
  /** Throws where the file is missing or not to be written. */
  checkWritable(path: string): void;
  makeDirectory(path: string): void;
  removeDirectory(path: string): void;
  /** Names of the directories in a directory. */
  listDirectories(path: string): readonly string[];
  /** Whether the path lies in a cgroup v2 file system, whatever the mounts are called. */
  isCgroup2(path: string): boolean;
  /** Calls whenever the file has changed. Throws where no watch is left. It does not keep this process alive. */
  watch(path: string, changed: () => void): Disposable;
}

/** CGROUP2_SUPER_MAGIC of statfs(2). */
const CGROUP2_MAGIC = 0x6367_7270;

export const systemCgroupPorts: CgroupPorts = {
  readFile: (path) => readFileSync(path, "latin1"),
  writeFile: (path, text) => {
    // Neither created nor cut off: in a directory that is no cgroup nothing may come into being.
    const fd = openSync(path, constants.O_WRONLY);
    try {
      writeSync(fd, text);
    } finally {
      closeSync(fd);
    }
  },
  checkWritable: (path) => accessSync(path, constants.W_OK),
  makeDirectory: (path) => mkdirSync(path),
  removeDirectory: (path) => rmdirSync(path),
  listDirectories: (path) =>
    readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name),
  isCgroup2: (path) => statfsSync(path).type === CGROUP2_MAGIC,
  watch: (path, changed) => {
    const watcher = watch(path, { persistent: false }, changed);
    watcher.on("error", () => {
      // The group was removed, or the kernel gives no more events: whoever watches looks from time to time as well.
    });
    return { [Symbol.dispose]: () => watcher.close() };
  },
};
