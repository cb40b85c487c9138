import { invariant } from "@holdfast/shared-process";
import type { BigIntStats } from "node:fs";
import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import type { FileSystem } from "../file-system.ts";
import { simulatedStats } from "../testing/simulated-stats.ts";
import { systemError } from "../testing/simulated-tree.ts";

/** One call of a thread whose disk lies in another one. */
export interface RemoteCall {
  readonly name: Exclude<keyof FileSystem, "fdatasyncAsync" | "fsyncAsync">;
  readonly args: readonly unknown[];
}

/** What it gave. Stats are sent without their methods. */
export type RemoteAnswer =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "stats"; readonly type: "file" | "directory"; readonly ino: number; mode: number; size: number }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "error"; readonly errno: string; readonly call: string; readonly path: string };

/** Both ends of the wire: messages on the port, and a count for each side that says how many were sent to it. */
export interface Wire {
  readonly port: MessagePort;
  readonly sent: Int32Array;
  readonly sends: "toServer" | "toClient";
}

const COUNTERS = { toServer: 0, toClient: 1 } as const;
/** Far beyond any run: a thread that ended must not stop the other one for good. */
const ANSWER_WAIT_MS = 20_000;

export function send(wire: Wire, message: unknown): void {
  wire.port.postMessage(message, []);
  Atomics.add(wire.sent, COUNTERS[wire.sends], 1);
  Atomics.notify(wire.sent, COUNTERS[wire.sends]);
}

/** Blocks the thread until a message is there. */
export function receive(wire: Wire): unknown {
  const counter = COUNTERS[wire.sends === "toServer" ? "toClient" : "toServer"];
  for (;;) {
    const count = Atomics.load(wire.sent, counter);
    const received: { readonly message: unknown } | undefined = receiveMessageOnPort(wire.port);
    if (received !== undefined) return received.message;
    invariant(Atomics.wait(wire.sent, counter, count, ANSWER_WAIT_MS) !== "timed-out", "the other thread answers");
  }
}

/** A disk in another thread: every call blocks until that one has answered. */
export class RemoteDisk implements FileSystem {
  readonly #wire: Wire;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  #call(name: RemoteCall["name"], ...args: readonly unknown[]): RemoteAnswer {
    send(this.#wire, { name, args } satisfies RemoteCall);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server in this package sends nothing else
    const answer = receive(this.#wire) as RemoteAnswer;
    if (answer.kind === "error") throw systemError(answer.errno, answer.call, answer.path);
    return answer;
  }

  #number(name: RemoteCall["name"], ...args: readonly unknown[]): number {
    const answer = this.#call(name, ...args);
    return answer.kind === "value" ? Number(answer.value) : 0;
  }

  #stats(name: "fstat" | "lstat", target: number | string): BigIntStats {
    const answer = this.#call(name, target);
    invariant(answer.kind === "stats", `${name} gives stats`);
    const { ino, mode, size } = answer;
    if (answer.type === "directory") {
      return simulatedStats({
        kind: "directory",
        ino,
        mode,
        changed: 0,
        names: new Map(),
        durable: new Map(),
        pending: [],
      });
    }
    const content = Buffer.alloc(size);
    return simulatedStats({ kind: "file", ino, mode, changed: 0, content, durable: content, pending: [] });
  }

  open(path: string, flags: number, mode?: number): number {
    return this.#number("open", path, flags, mode);
  }
  close(fd: number): void {
    this.#call("close", fd);
  }
  read(fd: number, buffer: Uint8Array, offset: number, length: number, position: number): number {
    const answer = this.#call("read", fd, length, position);
    if (answer.kind !== "bytes") return 0;
    buffer.set(answer.bytes, offset);
    return answer.bytes.length;
  }
  write(fd: number, buffer: Uint8Array, offset: number, length: number, position: number | null): number {
    return this.#number("write", fd, Uint8Array.from(buffer.subarray(offset, offset + length)), 0, length, position);
  }
  fdatasync(fd: number): void {
    this.#call("fdatasync", fd);
  }
  async fdatasyncAsync(fd: number): Promise<void> {
    await Promise.resolve();
    this.fdatasync(fd);
  }
  fsync(fd: number): void {
    this.#call("fsync", fd);
  }
  async fsyncAsync(fd: number): Promise<void> {
    await Promise.resolve();
    this.fsync(fd);
  }
  ftruncate(fd: number, length: number): void {
    this.#call("ftruncate", fd, length);
  }
  fstat(fd: number): BigIntStats {
    return this.#stats("fstat", fd);
  }
  lstat(path: string): BigIntStats {
    return this.#stats("lstat", path);
  }
  link(existing: string, path: string): void {
    this.#call("link", existing, path);
  }
  unlink(path: string): void {
    this.#call("unlink", path);
  }
  rename(source: string, target: string): void {
    this.#call("rename", source, target);
  }
  mkdir(path: string, mode: number): void {
    this.#call("mkdir", path, mode);
  }
  rmdir(path: string): void {
    this.#call("rmdir", path);
  }
  readdir(path: string): string[] {
    const answer = this.#call("readdir", path);
    return answer.kind === "value" && Array.isArray(answer.value) ? answer.value.map(String) : [];
  }
  chmod(path: string, mode: number): void {
    this.#call("chmod", path, mode);
  }
  fchmod(fd: number, mode: number): void {
    this.#call("fchmod", fd, mode);
  }
  exists(path: string): boolean {
    const answer = this.#call("exists", path);
    return answer.kind === "value" && answer.value === true;
  }
  hasName(fd: number, path: string): boolean {
    const answer = this.#call("hasName", fd, path);
    return answer.kind === "value" && answer.value === true;
  }
}
