import { mkdirSync } from "node:fs";
import type { Result, Running } from "./command.ts";
import { agentPath } from "./command.ts";
import type { Home } from "./home.ts";

/** A mount namespace in which something empty is mounted over the home: it has the path of the one outside, the processes are all seen there. */
export class MountNamespace {
  readonly #home: Home;
  readonly #inside: Running;

  private constructor(home: Home, inside: Running) {
    this.#home = home;
    this.#inside = inside;
  }

  /** It ends with its last process, the first of which belongs to the home. */
  static async open(home: Home): Promise<MountNamespace> {
    mkdirSync(home.path, { recursive: true, mode: 0o700 });
    const mounted = 'mount -t tmpfs -o mode=0700 tmpfs "$0" && echo mounted && exec sleep infinity';
    const inside = home.run(["unshare", "--mount", "sh", "-c", mounted, home.path]);
    await inside.untilPrinted("mounted");
    return new MountNamespace(home, inside);
  }

  /** Its home, as seen from outside. */
  get path(): string {
    return `/proc/${this.#inside.pid}/root${this.#home.path}`;
  }

  async ok(...args: readonly string[]): Promise<Result> {
    const enter = ["nsenter", "--target", String(this.#inside.pid), "--mount", "--"] as const;
    const result = await this.#home.run([...enter, process.execPath, agentPath, ...args]).result();
    if (result.code !== 0) throw new Error(`agent ${args.join(" ")}: exit ${result.code}: ${result.stderr}`);
    return result;
  }
}
