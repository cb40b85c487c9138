import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type Identity, identityOf, isRunning } from "./processes.ts";
import { waitFor } from "./wait-for.ts";

const program = `
for (const name of ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2", "SIGCONT", "SIGPIPE", "SIGALRM"])
  process.on(name, () => process.stdout.write(name + "\\n"));
process.stdout.write("ready\\n");
setInterval(() => {}, 1 << 30);
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
    const child = spawn(process.execPath, ["-e", program], {
      env: {},
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
    if (this.#child.kill("SIGKILL")) await ended;
  }
}
