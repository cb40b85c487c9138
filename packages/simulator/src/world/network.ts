import { Duplex } from "node:stream";
import type { SimProcess } from "./sim-process.ts";
import type { World } from "./world.ts";

interface Listening {
  readonly process: SimProcess;
  readonly onConnection: (stream: Duplex) => void;
}

/** One end of a connection. What is written arrives at the other end later, in order, unless the connection is cut. */
class End extends Duplex {
  readonly owner: SimProcess;
  readonly #world: World;
  #peer: End | null = null;
  /** Sent before the connection stood. */
  readonly #early: ((peer: End) => void)[] = [];
  /** Nothing arrives before this: the link is slow, or stands still. */
  #arrivesAt = 0;

  constructor(world: World, owner: SimProcess) {
    super({ emitClose: true, autoDestroy: true });
    this.#world = world;
    this.owner = owner;
    // Whoever has ended writes nothing more, and his kernel closes what he had open.
    owner.onEnd(() => this.#toPeer((peer) => peer.destroy()));
    this.on("error", () => undefined);
  }

  join(peer: End): void {
    this.#peer = peer;
    for (const run of this.#early.splice(0)) this.#toPeer(run);
  }

  stall(ms: number): void {
    this.#arrivesAt = Math.max(this.#arrivesAt, this.#world.scheduler.now + ms);
  }

  override _read(): void {
    // Whatever arrives is pushed.
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    if (this.owner.isAlive) this.#toPeer((peer) => void (peer.destroyed || peer.push(chunk)));
    done();
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#toPeer((peer) => void (peer.destroyed || peer.push(null)));
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#toPeer((peer) => peer.destroy());
    done(error);
  }

  #toPeer(run: (peer: End) => void): void {
    const peer = this.#peer;
    if (peer === null) {
      this.#early.push(run);
      return;
    }
    const { scheduler } = this.#world;
    this.#arrivesAt = Math.max(this.#arrivesAt, scheduler.now + this.#world.linkDelay());
    scheduler.plan(this.#arrivesAt - scheduler.now, `to ${peer.owner.label}`, () => peer.owner.enter(() => run(peer)));
  }
}

/** The unix sockets of a machine. */
export class Network {
  readonly #world: World;
  readonly #listening = new Map<string, Listening>();
  readonly #ends = new Set<End>();

  constructor(world: World) {
    this.#world = world;
  }

  listen(path: string, listening: Listening): void {
    this.#listening.set(path, listening);
    this.#world.disk.plant(path, Buffer.alloc(0));
  }

  isReachable(path: string, process: SimProcess): boolean {
    return this.#listening.get(path)?.process === process && this.#world.disk.exists(path);
  }

  close(path: string, process: SimProcess): void {
    if (!this.isReachable(path, process)) return;
    this.#listening.delete(path);
    try {
      this.#world.disk.unlink(path);
    } catch {
      // The disk refuses: the name leads to nobody.
    }
  }

  dial(process: SimProcess, path: string): Duplex {
    process.touch(`dial`);
    const near = new End(this.#world, process);
    this.#world.scheduler.plan(this.#world.linkDelay(), `${process.label} dials`, () => {
      const found = this.#world.disk.exists(path) ? this.#listening.get(path) : undefined;
      if (!found?.process.isAlive || found.process.machine !== process.machine) {
        process.enter(() => near.destroy());
        return;
      }
      if (near.destroyed) return;
      const far = new End(this.#world, found.process);
      near.join(far);
      far.join(near);
      for (const end of [near, far]) {
        this.#ends.add(end);
        end.once("close", () => this.#ends.delete(end));
      }
      found.process.enter(() => found.onConnection(far));
    });
    return near;
  }

  /** Somebody removes the name of one of the sockets. */
  removeOne(): void {
    const paths = [...this.#listening.keys()].filter((path) => this.#world.disk.exists(path));
    if (paths.length === 0) return;
    try {
      this.#world.disk.unlink(this.#world.random.pick(paths));
    } catch {
      // The disk refuses him as well.
    }
  }

  /** Cuts one of the connections that are open now. */
  cut(): void {
    if (this.#ends.size > 0) this.#world.random.pick([...this.#ends]).destroy();
  }

  stall(ms: number): void {
    if (this.#ends.size > 0) this.#world.random.pick([...this.#ends]).stall(ms);
  }
}
