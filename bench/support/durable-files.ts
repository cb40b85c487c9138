import * as fs from "node:fs";
import { join } from "node:path";

/** Something that makes one record after the other durable. */
export interface DurableStore extends Disposable {
  readonly append: () => void;
}

/** Beyond it, files begin again: none of them may grow for minutes. */
const FILE_BYTES = 1 << 20;

/** What the disk itself takes: the bytes are allocated, so that a sync writes data alone, as in a journal's segment. */
export function allocatedFile(root: string, bytes: number): DurableStore {
  const fd = fs.openSync(join(root, "allocated"), "w");
  fs.writeSync(fd, Buffer.alloc(FILE_BYTES, "\n"));
  fs.fsyncSync(fd);
  const line = Buffer.alloc(bytes, "x");
  let position = 0;
  return {
    append: () => {
      if (position + bytes > FILE_BYTES) position = 0;
      fs.writeSync(fd, line, 0, bytes, position);
      fs.fdatasyncSync(fd);
      position += bytes;
    },
    [Symbol.dispose]: () => fs.closeSync(fd),
  };
}

/** The simplest log: each sync has the file's new length to write, too. */
export function growingFile(root: string, bytes: number): DurableStore {
  const fd = fs.openSync(join(root, "growing"), "a");
  const line = Buffer.alloc(bytes, "x");
  return {
    append: () => {
      fs.writeSync(fd, line);
      fs.fdatasyncSync(fd);
    },
    [Symbol.dispose]: () => fs.closeSync(fd),
  };
}

/** As the origin does it: the file is opened, synced, closed and made private for each record. */
export function reopenedFile(root: string, bytes: number): DurableStore {
  const path = join(root, "reopened");
  const line = Buffer.alloc(bytes, "x");
  return {
    append: () => {
      const fd = fs.openSync(path, "a", 0o600);
      fs.writeSync(fd, line);
      fs.fsyncSync(fd);
      fs.closeSync(fd);
      fs.chmodSync(path, 0o600);
    },
    [Symbol.dispose]: () => undefined,
  };
}
