import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { baseEnv } from "./fixture.ts";

/**
 * A mount namespace of its own, held by a shell: what is mounted in it is seen nowhere else, and gone, loop devices too, when
 * the shell and all that was started in it has ended. The shell ends when this process does.
 */
export class PrivateMounts implements AsyncDisposable {
  readonly #shell: ChildProcess;

  private constructor(shell: ChildProcess) {
    this.#shell = shell;
  }

  static async open(): Promise<PrivateMounts> {
    const inside = ["sh", "-c", "echo ready; read -r _"];
    const shell = spawn("unshare", ["--mount", "--propagation", "private", ...inside], {
      env: baseEnv,
      cwd: "/",
      stdio: ["pipe", "pipe", "inherit"],
    });
    await once(shell.stdout, "data");
    return new PrivateMounts(shell);
  }

  /** The command that runs `command` inside. It keeps its process: nothing stands between. */
  inside(...command: readonly string[]): readonly string[] {
    return ["nsenter", `--mount=/proc/${this.#shell.pid}/ns/mnt`, "--", ...command];
  }

  /** Runs a command inside to its end and gives its output. Throws when it fails. */
  run(...command: readonly string[]): string {
    const [name, ...args] = this.inside(...command);
    const options = { env: baseEnv, encoding: "utf8", cwd: "/", stdio: "pipe" } as const;
    return execFileSync(name ?? "", args, options);
  }

  /** A file's path as seen from outside, as long as the namespace is there. */
  fromOutside(path: string): string {
    return `/proc/${this.#shell.pid}/root${path}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#shell, "exit");
    this.#shell.stdin?.end();
    await ended;
  }
}
