import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import type { Running } from "../support/command.ts";
import type { Home } from "../support/home.ts";
import { type Identity, identityOf } from "../support/processes.ts";
import { waitFor } from "../support/wait-for.ts";
import { files } from "./orders.ts";
import type { Moment, Orders } from "./orders.ts";

const built = new URL("../../packages/cli/dist/bin/", import.meta.url);
/** Beside it the optional library is found, as it is by the built supervisor. */
const supervisorProgram = fileURLToPath(new URL("supervisor.js", built));

/** Bundles the program of the moments from the sources, in a directory that the caller removes. */
export async function buildProgram(directory: string): Promise<string> {
  const outfile = join(directory, "program.cjs");
  await build({
    entryPoints: [fileURLToPath(new URL("program.ts", import.meta.url))],
    outfile,
    bundle: true,
    format: "cjs",
    platform: "node",
    target: "node20",
    conditions: ["@holdfast/source"],
    define: { "import.meta.url": JSON.stringify(pathToFileURL(supervisorProgram).href) },
    external: ["koffi"],
    logLevel: "warning",
  });
  return outfile;
}

/** The shipped code under a world of its own, in the place of a home's daemon or of its forced stop. */
export class Paused {
  readonly running: Running;
  readonly identity: Identity;
  readonly #home: Home;
  readonly #files: ReturnType<typeof files>;

  private constructor(home: Home, running: Running, directory: string) {
    this.#home = home;
    this.running = running;
    this.#files = files(directory);
    this.identity = identityOf(running.pid) ?? { pid: running.pid, startTicks: "" };
  }

  static start(home: Home, program: string, order: Pick<Orders, "program" | "stop"> & { armed?: boolean }): Paused {
    const { armed = false, ...rest } = order;
    mkdirSync(home.files, { recursive: true });
    const directory = mkdtempSync(join(home.files, "moments-"));
    const workerProgram = fileURLToPath(new URL("worker.js", built));
    const orders: Orders = { ...rest, home: home.path, workerProgram, supervisorProgram, directory };
    if (armed) writeFileSync(files(directory).armed, "");
    return new Paused(home, home.run([process.execPath, program, JSON.stringify(orders)]), directory);
  }

  /** From here on moments count. */
  arm(): void {
    writeFileSync(this.#files.armed, "");
  }

  /** Puts its clocks so much ahead of the machine's. */
  step(ahead: { readonly wallMs: number; readonly monotonicMs: number }): void {
    writeFileSync(this.#files.clock, JSON.stringify(ahead));
  }

  get hasReached(): boolean {
    return existsSync(this.#files.reached);
  }

  get recorded(): Moment[] {
    if (!existsSync(this.#files.record)) return [];
    const lines = readFileSync(this.#files.record, "utf8").split("\n").slice(0, -1);
    return lines.map((line): Moment => JSON.parse(line));
  }

  /** Serves its home as the owner. */
  get serves(): boolean {
    const folder = join(this.#home.path, "owner");
    if (!existsSync(folder) || !readdirSync(folder).some((name) => name.endsWith(".json"))) return false;
    const record: { phase: string; identity: Identity } = JSON.parse(readFileSync(this.#home.ownerPath(), "utf8"));
    return record.phase === "serving" && record.identity.pid === this.identity.pid;
  }

  async untilServing(): Promise<void> {
    await waitFor(() => this.serves, "the supervisor under test serves", 60_000);
  }

  async kill(): Promise<void> {
    await this.#home.kill(this.identity);
    await this.running.result();
  }
}
