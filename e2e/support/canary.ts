import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type Identity, identityOf, isRunning } from "./processes.ts";
import { waitFor } from "./wait-for.ts";

/** A shell, since each home has one and another Node takes ten times as long to start. */
const program = `
for name in HUP INT QUIT TERM USR1 USR2 CONT PIPE ALRM; do trap "echo SIG$name" "$name"; done
sleep infinity &
echo ready
while kill -0 $! 2> /dev/null; do wait $!; done
`;

/** An innocent process that tells every signal it gets (I131). */
export class Canary {
  readonly identity: Identity;
  readonly #child: ChildProcess;
  readonly #told: () => string;

  constructor(child: ChildProcess, identity: Identity, told: () => string) {
    this.#child = child;
    this.identity = identity;
    this.#told = told;
  }

  static async start(): Promise<Canary> {
    const child = spawn("bash", ["--noprofile", "--norc", "-c", program], {
      env: { PATH: process.env["PATH"] },
      detached: true,
      stdio: ["ignore", "pipe", "ignore"],
    });
    let told = "";
    child.stdout.on("data", (chunk: Buffer) => (told += chunk.toString()));
    const identity = await waitFor(() => told.includes("ready\n") && identityOf(child.pid ?? 0), "the canary is ready");
    return new Canary(child, identity, () => told.replace("ready\n", ""));
  }

  /** What it was sent, or that it ended; empty when nobody touched it. */
  touched(): string {
    return isRunning(this.identity) ? this.#told() : `${this.#told()}ended`;
  }

  async end(): Promise<void> {
    const ended = once(this.#child, "exit");
    const runs = this.#child.exitCode === null && this.#child.signalCode === null;
    try {
      // With the command that it waits for.
      process.kill(-this.identity.pid, "SIGKILL");
    } catch {
      // Neither runs any more, as `touched` has told.
    }
    if (runs) await ended;
  }
}
