import { CodedError, errnoOf, invariant } from "@holdfast/shared-process";
import { buildSync } from "esbuild";
import { fileURLToPath } from "node:url";
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import type { FileSystem } from "../file-system.ts";
import type { JournalReport } from "../types.ts";
import type { Entry } from "./entry.ts";
import { receive, type RemoteAnswer, type RemoteCall, send, type Wire } from "./remote-disk.ts";
import type { Step } from "./workload.ts";

export interface SecondWriterData {
  readonly port: MessagePort;
  readonly sent: Int32Array;
}

/** What the second writer asked and was told. */
export interface SecondRun {
  readonly entries: readonly Entry[];
  /** What its opening found; `null` if it did not open the journal. */
  readonly read: JournalReport | null;
  /** An error that is no refusal of the journal's. */
  readonly error: string | null;
}

/**
 * A writer that runs from its opening to its end while the first one stands still within one call of its disk. That one's thread
 * is blocked for as long, so the second has a thread of its own and sends its calls to the first one's disk.
 */
export class SecondWriter {
  readonly #worker: Worker;
  readonly #wire: Wire;

  private constructor(worker: Worker, wire: Wire) {
    this.#worker = worker;
    this.#wire = wire;
  }

  static async start(): Promise<SecondWriter> {
    const { port1: port, port2 } = new MessageChannel();
    const sent = new Int32Array(new SharedArrayBuffer(8));
    const worker = new Worker(bundledWorker(), {
      eval: true,
      workerData: { port: port2, sent } satisfies SecondWriterData,
      transferList: [port2],
    });
    await new Promise<void>((resolve, reject) => {
      worker.once("message", () => resolve());
      worker.once("error", reject);
    });
    return new SecondWriter(worker, { port, sent, sends: "toClient" });
  }

  /** Runs the steps on a disk, from the inside of one of its calls if need be. */
  run(fs: FileSystem, steps: readonly Step[]): SecondRun {
    this.#worker.postMessage(steps, []);
    for (;;) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the worker in this package sends nothing else
      const message = receive(this.#wire) as RemoteCall | { readonly result: SecondRun };
      if ("result" in message) return message.result;
      send(this.#wire, answer(fs, message));
    }
  }

  async stop(): Promise<void> {
    this.#wire.port.close();
    await this.#worker.terminate();
  }
}

/** A thread takes no TypeScript, and no loader of the thread that starts it. */
function bundledWorker(): string {
  const { outputFiles } = buildSync({
    entryPoints: [fileURLToPath(new URL("second-writer.worker.ts", import.meta.url))],
    bundle: true,
    write: false,
    platform: "node",
    format: "cjs",
    conditions: ["@holdfast/source"],
  });
  return outputFiles[0]?.text ?? "";
}

function answer(fs: FileSystem, { name, args }: RemoteCall): RemoteAnswer {
  try {
    if (name === "read") {
      const [fd, length, position] = args.map(Number);
      const bytes = new Uint8Array(length ?? 0);
      return { kind: "bytes", bytes: bytes.subarray(0, fs.read(fd ?? 0, bytes, 0, bytes.length, position ?? 0)) };
    }
    if (name === "fstat" || name === "lstat") {
      const stats = name === "fstat" ? fs.fstat(Number(args[0])) : fs.lstat(String(args[0]));
      const type = stats.isDirectory() ? "directory" : "file";
      const [ino, mode, size] = [stats.ino, stats.mode & 0o7777n, stats.size].map(Number);
      return { kind: "stats", type, ino: ino ?? 0, mode: mode ?? 0, size: size ?? 0 };
    }
    const method: unknown = Reflect.get(fs, name);
    invariant(typeof method === "function", `${name} is a call`);
    const value: unknown = Reflect.apply(method, fs, args);
    return { kind: "value", value };
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === null || error instanceof CodedError) throw error;
    return { kind: "error", errno, call: name, path: String(args[0]) };
  }
}
