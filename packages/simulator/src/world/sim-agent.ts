import type { Agent, AgentHost, AgentOrigin, AgentStart, ShellAgentOptions } from "@holdfast/session-worker/testing";
import type { SimProcess } from "./sim-process.ts";
import type { World } from "./world.ts";

interface Turn {
  readonly turnId: string;
  readonly timer: Disposable;
}

/** An agent in a process of its own. A prompt is `REQUEST MILLISECONDS [stray]`; it is entered in the ledger when it begins. */
export class SimAgent implements Agent {
  readonly #world: World;
  readonly #worker: SimProcess;
  readonly #host: AgentHost;
  readonly #environment: Readonly<Record<string, string>>;
  #process: SimProcess | null = null;
  #turn: Turn | null = null;

  constructor(world: World, worker: SimProcess, { host, environment }: ShellAgentOptions) {
    this.#world = world;
    this.#worker = worker;
    this.#host = host;
    this.#environment = environment;
  }

  get pid(): number | null {
    return this.#process?.isAlive === true ? this.#process.pid : null;
  }

  async start(_origin: AgentOrigin): Promise<AgentStart> {
    const failure = this.#world.agentFailure();
    if (failure !== null) return { kind: "failed", ...failure };
    return this.#launch() === null
      ? { kind: "failed", terminal: false, reason: "no number is free" }
      : { kind: "started" };
  }

  #launch(): SimProcess | null {
    const { machine, label } = this.#worker;
    const environment = this.#environment;
    const request = {
      kind: "agent",
      label: `${label}/agent`,
      parent: this.#worker,
      environment,
      detached: true,
    } as const;
    let started: SimProcess;
    try {
      started = machine.spawn(request);
    } catch {
      // No number is free.
      return null;
    }
    this.#process = started;
    // Ended by somebody else, it takes its turn along.
    started.onEnd(() => this.#worker.enter(() => this.#finish("interrupted")));
    return started;
  }

  run(turnId: string, text: string): void {
    const [request = "", duration = "0", stray] = text.split(" ");
    const agent = this.pid === null ? this.#launch() : this.#process;
    this.#world.checks.ran(request);
    if (stray === "stray" && agent !== null) this.#stray(agent);
    const clock = this.#worker.machine.clockOf(this.#worker);
    this.#turn = { turnId, timer: clock.setTimer(Number(duration), () => this.#finish("end_turn")) };
  }

  /** A program in the background, in a session of its own, deaf to SIGTERM now and then. */
  #stray(parent: SimProcess): void {
    const ignores = this.#world.random.chance(0.5) ? (["SIGTERM"] as const) : [];
    const label = `${this.#worker.label}/stray`;
    const request = { kind: "stray", label, parent, environment: this.#environment, detached: true, ignores } as const;
    try {
      this.#worker.machine.spawn(request);
    } catch {
      // No number is free: the command fails, and the turn goes on.
    }
  }

  inject(turnId: string, text: string): boolean {
    if (this.#turn?.turnId !== turnId) return false;
    this.#world.checks.ran(text.split(" ")[0] ?? "");
    return true;
  }

  cancel(turnId: string): void {
    if (this.#turn?.turnId !== turnId) return;
    const clock = this.#worker.machine.clockOf(this.#worker);
    clock.setTimer(this.#world.random.between(1, 50), () => this.#finish("cancelled", turnId));
  }

  #finish(stopReason: "end_turn" | "cancelled" | "interrupted", turnId = this.#turn?.turnId): void {
    const turn = this.#turn;
    if (turn === null || turn.turnId !== turnId) return;
    this.#turn = null;
    turn.timer[Symbol.dispose]();
    this.#host.ended(turn.turnId, { stopReason });
  }

  end(graceMs: number): Promise<void> {
    const process = this.#process;
    if (process === null || !process.isAlive) return Promise.resolve();
    const clock = this.#worker.machine.clockOf(this.#worker);
    clock.setTimer(this.#world.random.between(0, Math.max(1, graceMs)), () => process.end());
    return new Promise((resolve) => process.onEnd(() => this.#worker.enter(resolve)));
  }
}
