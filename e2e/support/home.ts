import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { Canary } from "./canary.ts";
import { removeCgroups } from "./cgroups.ts";
import { agentPath, type Result, type RunOptions, Running } from "./command.ts";
import { type Found, type Identity, isRunning, processesWith, signal } from "./processes.ts";
import { type Event, type SessionRow, parseEvents, parseRow, parseRows } from "./rows.ts";
import { waitFor } from "./wait-for.ts";

interface HomeOptions {
  /** Path of the home below the temporary directory. */
  readonly name?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** For each command, where nothing else is said. */
  readonly timeoutMs?: number;
  /** The program of its commands: by default the one of the repository's build. */
  readonly agent?: string;
  /** `ps --force-stop` ends it, and has to leave nobody: where ends are the subject, or its sockets lie outside of its root. */
  readonly forceStop?: boolean;
}

/**
 * A state directory of its own with everything that a test starts in it. Disposal ends all of it, and fails if a process is
 * left or the canary was touched.
 */
export class Home implements AsyncDisposable {
  readonly root: string;
  readonly path: string;
  /** A directory for the test's own files. */
  readonly files: string;
  readonly canary: Canary;
  readonly #env: Readonly<Record<string, string>>;
  readonly #timeoutMs: number | undefined;
  readonly #forceStop: boolean;
  readonly #agent: string;
  readonly #running: Running[] = [];
  readonly #frozen: Identity[] = [];
  #closed: Promise<void> | null = null;
  /** Set by a test that put its home on a disk of its own. */
  beforeRemoval: () => void = () => {};

  private constructor(
    canary: Canary,
    { name = "h", env = {}, timeoutMs, forceStop = false, agent = agentPath }: HomeOptions,
  ) {
    this.canary = canary;
    this.root = mkdtempSync(join(tmpdir(), "hf-"));
    this.path = join(this.root, name);
    this.files = join(this.root, "files");
    mkdirSync(this.files);
    this.#env = env;
    this.#timeoutMs = timeoutMs;
    this.#forceStop = forceStop;
    this.#agent = agent;
  }

  /** Ends when it is disposed of, and at the latest with its test: one that timed out never reaches the end of its block. */
  static async open(options: HomeOptions = {}): Promise<Home> {
    const home = await Home.create(options);
    onTestFinished(async () => await home[Symbol.asyncDispose](), 30_000);
    return home;
  }

  /** Ends when it is disposed of; for tests that share it, each with sessions of its own. */
  static async create(options: HomeOptions = {}): Promise<Home> {
    return new Home(await Canary.start(), options);
  }

  /** XDG_CONFIG_HOME is handed down to sessions, so that every process of a test is found by the path in its environment. */
  environment(more: RunOptions["env"] = {}): Record<string, string> {
    const all = {
      PATH: process.env["PATH"],
      HOME: this.root,
      LANG: "C.UTF-8",
      TMPDIR: tmpdir(),
      XDG_CONFIG_HOME: join(this.root, "config"),
      HOLDFAST_HOME: this.path,
      ...this.#env,
      ...more,
    };
    return Object.fromEntries(
      Object.entries(all).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
    );
  }

  /** `agent`, for a line of a shell. */
  get shellCommand(): string {
    return `${process.execPath} ${this.#agent}`;
  }

  async agent(args: readonly string[], options: RunOptions = {}): Promise<Result> {
    return await this.start(args, options).result(options.timeoutMs ?? this.#timeoutMs);
  }

  /** Begins an `agent` command and does not wait for it. */
  start(args: readonly string[], options: RunOptions = {}): Running {
    return this.run([process.execPath, this.#agent, ...args], options);
  }

  /** Any command with the environment of this home; `$AGENT` is the way to `agent` in a shell's line. */
  run(argv: readonly [string, ...string[]], options: RunOptions = {}): Running {
    const env = { ...this.environment(options.env), AGENT: this.shellCommand };
    const running = new Running(argv, { cwd: this.files, ...options, env });
    this.#running.push(running);
    return running;
  }

  async shell(line: string, options: RunOptions = {}): Promise<Result> {
    return await this.run(["bash", "-c", line], options).result(options.timeoutMs);
  }

  /** Runs a command that has to succeed. */
  async ok(args: readonly string[], options: RunOptions = {}): Promise<Result> {
    const result = await this.agent(args, options);
    if (result.code !== 0) throw new Error(`agent ${args.join(" ")}: exit ${result.code}: ${result.stderr}`);
    return result;
  }

  /** Creates a session and, with `--prompt`, waits for its first turn. */
  async newSession(name: string, ...more: string[]): Promise<SessionRow> {
    const { stdout } = await this.ok(["session", "new", "--name", name, "--json", ...more]);
    return parseRow(stdout.split("\n")[0] ?? "");
  }

  async show(session: string): Promise<SessionRow> {
    return parseRow((await this.ok(["session", "show", session, "--json"])).stdout);
  }

  async list(): Promise<readonly SessionRow[]> {
    return parseRows((await this.ok(["session", "list", "--json"])).stdout);
  }

  async untilState(session: string, state: string, timeoutMs = 15_000): Promise<SessionRow> {
    const reached = async (): Promise<SessionRow | null> => {
      const row = await this.show(session);
      return row.state === state ? row : null;
    };
    return await waitFor(reached, `${session} is ${state}`, timeoutMs);
  }

  async transcript(session: string, ...more: string[]): Promise<Event[]> {
    return parseEvents((await this.ok(["session", "transcript", session, "--json", ...more])).stdout);
  }

  /** The daemon that the highest owner record names. */
  daemon(): Identity {
    return identityOfRecord(this.owner());
  }

  /** The highest owner record, whoever sweeps older ones meanwhile. */
  owner(): { readonly identity: Identity; readonly phase: string } {
    for (;;) {
      const path = this.ownerPath();
      try {
        return JSON.parse(readFileSync(path, "utf8"));
      } catch (error) {
        if (path === this.ownerPath()) throw error;
      }
    }
  }

  ownerPath(): string {
    const directory = join(this.path, "owner");
    const epochs = readdirSync(directory).filter((name) => /^\d+\.json$/.test(name));
    const highest = Math.max(...epochs.map((name) => Number.parseInt(name, 10)));
    return join(directory, `${highest}.json`);
  }

  /** The process that the session's descriptor names. */
  worker({ sessionId }: SessionRow): Identity {
    const path = this.descriptorPath(sessionId);
    const record: { readonly process: { readonly identity: Identity } } = JSON.parse(readFileSync(path, "utf8"));
    return identityOfRecord(record.process);
  }

  descriptorPath(sessionId: string): string {
    return join(this.path, "workers", `${sessionId}.json`);
  }

  /** Freezes a process; it is thawed at the end if it is still there. */
  freeze(identity: Identity): void {
    this.#frozen.push(identity);
    signal(identity, "SIGSTOP");
  }

  async kill(identity: Identity): Promise<void> {
    signal(identity, "SIGKILL");
    await waitFor(() => !isRunning(identity), `process ${identity.pid} is gone`);
  }

  /** What runs and belongs to this test: daemon, workers, agents, their children, commands. */
  processes(): Found[] {
    return processesWith(this.root);
  }

  supervisors(): Found[] {
    return this.processes().filter(({ command }) => command.startsWith("holdfastd"));
  }

  workers(): Found[] {
    return this.processes().filter(({ command }) => command.endsWith("/dist/bin/worker.js"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#close();
    await this.#closed;
  }

  async #close(): Promise<void> {
    for (const running of this.#running) running.killGroup();
    try {
      await (this.#forceStop ? this.#stopAll() : this.#killAll());
      const touched = this.canary.touched();
      if (touched !== "") throw new Error(`the canary was touched: ${touched}`);
    } finally {
      for (const identity of this.#frozen) signal(identity, "SIGCONT");
      await this.canary.end();
      removeCgroups(this.root);
      this.beforeRemoval();
      rmSync(this.root, { recursive: true, force: true, maxRetries: 3 });
    }
  }

  async #killAll(): Promise<void> {
    // Again and again: one that was just starting another is not always the last.
    await waitFor(() => this.#signalled().length === 0, "every process of the test is ended", 5_000);
  }

  async #stopAll(): Promise<void> {
    if (this.processes().length > 0 || existsSync(join(this.path, "workers"))) await this.#forceStopped();
    await waitFor(() => this.processes().length === 0, "no process of the test is left", 5_000).catch(() => {
      throw new Error(`left running: ${JSON.stringify(this.#signalled())}`);
    });
  }

  /** What ran, each sent SIGKILL. */
  #signalled(): Found[] {
    const left = this.processes();
    for (const identity of left) signal(identity, "SIGKILL");
    return left;
  }

  async #forceStopped(): Promise<void> {
    const { code, stderr } = await this.agent(["ps", "--force-stop", "--yes"], {
      timeoutMs: this.#timeoutMs ?? 20_000,
    });
    if (code !== 0) throw new Error(`ps --force-stop: exit ${code}: ${stderr}`);
  }
}

export const identityOfRecord = ({ identity: { pid, startTicks } }: { readonly identity: Identity }): Identity => ({
  pid,
  startTicks,
});
