import { readFileSync } from "node:fs";
import type { Result, Running } from "./command.ts";
import { agentPath } from "./command.ts";
import type { Home } from "./home.ts";
import { waitFor } from "./wait-for.ts";

/** A pid namespace with a /proc of its own, whose first process reaps nobody. It ends with all that runs in it. */
export class Namespace implements Disposable {
  readonly #home: Home;
  readonly #unshare: Running;
  /** The first process's number outside. */
  readonly #first: number;

  private constructor(home: Home, unshare: Running, first: number) {
    this.#home = home;
    this.#unshare = unshare;
    this.#first = first;
  }

  static async open(home: Home): Promise<Namespace> {
    const unshare = home.run(["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "sleep", "infinity"]);
    const { pid } = unshare;
    const first = await waitFor(() => childThatSleeps(pid), "the namespace is there");
    return new Namespace(home, unshare, first);
  }

  /** Any command in it. */
  run(...argv: readonly string[]): Running {
    return this.#home.run(["nsenter", "--target", String(this.#first), "--pid", "--mount", "--", ...argv]);
  }

  async agent(...args: readonly string[]): Promise<Result> {
    return await this.run(process.execPath, agentPath, ...args).result();
  }

  async ok(...args: readonly string[]): Promise<Result> {
    const result = await this.agent(...args);
    if (result.code !== 0) throw new Error(`agent ${args.join(" ")}: exit ${result.code}: ${result.stderr}`);
    return result;
  }

  /** As when a container is stopped: everything in it at once. */
  async end(): Promise<void> {
    this.#unshare.killGroup();
    await this.#unshare.result();
  }

  [Symbol.dispose](): void {
    this.#unshare.killGroup();
  }
}

/** Before it has become `sleep`, its /proc is not mounted yet. */
function childThatSleeps(pid: number): number | null {
  try {
    const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ");
    return readFileSync(`/proc/${child}/comm`, "utf8") === "sleep\n" ? Number(child) : null;
  } catch {
    // Not there yet.
    return null;
  }
}
