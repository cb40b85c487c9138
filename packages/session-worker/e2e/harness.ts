import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { Peer, ProtocolError } from "@holdfast/client/protocol";
import { createObserver } from "@holdfast/shared-process";
import { requestHash } from "../src/transport/index.ts";

/** Any event, as it came over the wire. */
export type Line = Readonly<Record<string, unknown>>;
const asLine = (value: unknown): Line => Object(value);

export async function bundleWorker(directory: string): Promise<string> {
  const outfile = join(directory, "worker.mjs");
  await build({
    entryPoints: [fileURLToPath(new URL("../src/program.ts", import.meta.url))],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    conditions: ["@holdfast/source"],
    logLevel: "error",
  });
  return outfile;
}

export async function until<T>(
  what: string,
  look: () => T | null | undefined | false,
  deadlineMs = 10_000,
): Promise<T> {
  const end = performance.now() + deadlineMs;
  for (;;) {
    const found = look();
    if (found !== null && found !== undefined && found !== false) return found;
    if (performance.now() > end) throw new Error(`not in ${deadlineMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export interface Attachment {
  readonly events: Line[];
  readonly peer: Peer;
  readonly socket: import("node:net").Socket;
  ended: string | null;
}

const identity = {
  machineId: null,
  bootId: null,
  pid: process.pid,
  pidNamespace: null,
  timeNamespace: null,
  startTicks: null,
  pidfsInode: null,
};

/** A home with one session, and the workers that a test starts for it. */
export class World {
  readonly home = mkdtempSync(join(tmpdir(), "hf-worker-"));
  readonly cwd = join(this.home, "project");
  readonly sessionDirectory = join(this.home, "sessions", "s1");
  readonly workers: TestWorker[] = [];

  constructor() {
    mkdirSync(this.cwd);
    mkdirSync(this.sessionDirectory, { recursive: true, mode: 0o700 });
    const record = {
      schemaVersion: 1,
      sessionId: "s1",
      name: null,
      agent: "shell",
      cwd: this.cwd,
      project: this.cwd,
      wanted: "running",
      parentId: null,
      createdAt: "",
      lastActivityAt: "",
      creatingRequest: { requestId: "r0", hash: "" },
      environment: {},
      secretNames: [],
      options: {},
      lastError: null,
    };
    writeFileSync(join(this.sessionDirectory, "session.json"), JSON.stringify(record));
  }

  get transcript(): Line[] {
    const text = readFileSync(join(this.sessionDirectory, "transcript.jsonl"), "utf8");
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => asLine(JSON.parse(line)));
  }

  async launch(program: string, restored = false): Promise<TestWorker> {
    const worker = new TestWorker(this, program);
    this.workers.push(worker);
    await worker.connectControl();
    const started = await worker.request("worker/start", {
      environment: { PATH: process.env["PATH"] ?? "", HOME: this.home, LANG: "C.UTF-8" },
      restored,
    });
    if (started["kind"] !== "serving") throw new Error(JSON.stringify(started));
    return worker;
  }

  async dispose(): Promise<void> {
    for (const worker of this.workers) await worker.kill();
    rmSync(this.home, { recursive: true, force: true });
  }
}

export class TestWorker {
  readonly child: ChildProcess;
  readonly generation = randomUUID();
  readonly token = randomUUID();
  readonly marker = randomUUID();
  readonly socketPath: string;
  readonly notifications: { method: string; params: Line }[] = [];
  readonly exited: Promise<number | null>;
  readonly #world: World;
  #control: Peer | null = null;
  #requests = 0;

  constructor(world: World, program: string) {
    this.#world = world;
    this.socketPath = join(world.home, `${this.generation.slice(0, 8)}.sock`);
    this.child = spawn(process.execPath, [program], {
      stdio: ["ignore", "ignore", "inherit", "pipe", "ignore"],
      env: { PATH: process.env["PATH"], HOLDFAST_HOME: world.home },
      cwd: "/",
      detached: true,
    });
    this.exited = new Promise((resolve) => void this.child.once("exit", (code) => resolve(code)));
    const gate = this.child.stdio[3];
    if (!gate || !("end" in gate)) throw new Error("no gate");
    gate.end(
      `${JSON.stringify({
        protocol: 1,
        home: world.home,
        sessionId: "s1",
        generation: this.generation,
        token: this.token,
        marker: this.marker,
        socketPath: this.socketPath,
        epoch: 1,
        supervisor: null,
      })}\n`,
    );
  }

  async open(
    onNotification: (method: string, params: unknown) => void,
  ): Promise<{ peer: Peer; socket: import("node:net").Socket }> {
    const socket = await this.#connect();
    const peer = new Peer(socket, { onNotification });
    return { peer, socket };
  }

  async #connect(): Promise<import("node:net").Socket> {
    const end = performance.now() + 10_000;
    for (;;) {
      const socket = connect(this.socketPath);
      const connected = await new Promise<boolean>((resolve) => {
        socket.once("connect", () => resolve(true));
        socket.once("error", () => resolve(false));
      });
      if (connected) return socket;
      if (performance.now() > end) throw new Error("the worker does not listen");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  authentication(purpose: "control" | "attach", changes: object = {}): object {
    const { token, generation } = this;
    return { protocol: 1, token, sessionId: "s1", generation, epoch: 1, supervisor: identity, purpose, ...changes };
  }

  async connectControl(changes: object = {}): Promise<Line> {
    const { peer } = await this.open((method, params) => this.notifications.push({ method, params: asLine(params) }));
    const hello = asLine(await peer.request("authenticate", this.authentication("control", changes)));
    if (hello["kind"] === "hello") this.#control = peer;
    return hello;
  }

  get control(): Peer {
    if (!this.#control) throw new Error("not connected");
    return this.#control;
  }

  async request(method: string, params: object): Promise<Line> {
    return asLine(await this.control.request(method, params));
  }

  submit(kind: "prompt" | "steer" | "follow_up", text: string, more: object = {}): Promise<Line> {
    this.#requests += 1;
    const requestId = `${this.generation}-${this.#requests}`;
    const hash = requestHash(`session/${kind}`, { text });
    return this.request(`session/${kind}`, { requestId, hash, kind, text, ...more });
  }

  /** Sends a prompt and waits for its end in the transcript. */
  async prompt(text: string): Promise<{ ended: Line; stdout: string; stderr: string }> {
    const { actionId } = await this.submit("prompt", text);
    const ended = await this.ended(actionId);
    const output = (stream: string): string =>
      this.#world.transcript
        .filter((line) => line["type"] === "output" && line["turnId"] === actionId && line["stream"] === stream)
        .map((line) => String(line["text"]))
        .join("");
    return { ended, stdout: output("stdout"), stderr: output("stderr") };
  }

  ended(actionId: unknown, deadlineMs?: number): Promise<Line> {
    const isEnd = (line: Line): boolean => line["type"] === "turn_ended" && line["actionId"] === actionId;
    return until(`the end of ${String(actionId)}`, () => this.#world.transcript.find(isEnd), deadlineMs);
  }

  started(actionId: unknown): Promise<Line> {
    const isStart = (line: Line): boolean => line["type"] === "turn_started" && line["actionId"] === actionId;
    return until(`the start of ${String(actionId)}`, () => this.#world.transcript.find(isStart));
  }

  async attach(params: { from?: string; follow: boolean }): Promise<Attachment> {
    const events: Line[] = [];
    const holder: { ended: string | null } = { ended: null };
    const { peer, socket } = await this.open((method, body) => {
      if (method === "session/event") events.push(asLine(body));
      else holder.ended = String(asLine(body)["reason"]);
    });
    await peer.request("authenticate", this.authentication("attach"));
    await peer.request("session/attach", params);
    return Object.assign(holder, { events, peer, socket });
  }

  async kill(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill("SIGKILL");
    await this.exited;
  }
}

export const isAlive = (pid: number): boolean => {
  const seen = createObserver().identify(pid);
  return seen.kind === "identified";
};

export const codeOf = (error: unknown): string => (error instanceof ProtocolError ? error.code : String(error));
