import { statSync } from "node:fs";
import { isAbsolute, normalize } from "node:path";
import { ProtocolError } from "@holdfast/client/protocol";
import type { MethodParams, MethodResults, SessionRow } from "@holdfast/client/protocol";
import { ensurePrivateDirectoryAsync, removeFile } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { sessionEnvironment } from "@holdfast/shared-process";
import { checkEnvironment } from "./environment.ts";
import { requestHash, sessionDirectory } from "@holdfast/session-worker/transport";
import type { SessionRecord } from "@holdfast/session-worker/transport";
import type { SessionSummary } from "../session-index/row.ts";
import type { Services } from "./services.ts";
import { untilReady } from "./ready.ts";
import { checkName, nameInUse } from "./names.ts";
import { projectAt } from "./project-at.ts";
import { reusedRequest } from "./reused-request.ts";

type Params = MethodParams<"session/new">;

function checkParams({ name, agent = "shell", cwd, environment, secretEnvironment }: Params): void {
  if (name !== undefined) checkName(name);
  if (agent !== "shell")
    throw new ProtocolError("agent_not_found", `no agent ${JSON.stringify(agent)}`, {
      hint: "this version has: shell",
    });
  if (!isAbsolute(cwd) || cwd.includes("\0"))
    throw new ProtocolError("usage", "the working directory must be an absolute path");
  checkEnvironment(environment, secretEnvironment);
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
    throw new ProtocolError("file_not_found", `${cwd} is not a directory`, { hint: "use --cwd with one that exists" });
}

/** Sessions being created: their names are taken before the first await. */
export class Creations {
  readonly #services: Services;
  /** Names being taken, with the creation that takes each. */
  readonly #names = new Map<string, Promise<string>>();

  constructor(services: Services) {
    this.#services = services;
  }

  /** One request, one session, whoever repeats it and however often (I143). */
  create(params: Params): Promise<MethodResults["session/new"]> {
    const { requestId, secretEnvironment = {}, ...content } = params;
    // Not the values, whose hash would be on disk (I152).
    const hash = requestHash("session/new", { ...content, secretNames: Object.keys(secretEnvironment).toSorted() });
    return this.#services.requests.join(requestId, hash, () => this.#create(params, hash));
  }

  async #create(params: Params, hash: string): Promise<MethodResults["session/new"]> {
    const made = this.#services.context.catalog.createdBy(params.requestId);
    if (made) {
      if (made.creatingRequest.hash !== hash) throw reusedRequest(params.requestId);
      return { ...(await this.#again(made.sessionId)), created: true };
    }
    const gone = await this.#services.requests.created(params.requestId, hash);
    if (gone) return gone;
    checkParams(params);
    const existing = params.name === undefined ? undefined : this.#services.names.holder(params.name);
    if (existing) return this.#ensure(params, existing);
    const { name } = params;
    const underway = name === undefined ? undefined : this.#names.get(name);
    if (underway) return this.#join(params, underway);
    const published = this.#publish(params, hash);
    if (name !== undefined) this.#names.set(name, published);
    try {
      return { ...(await untilReady(this.#services, await published)), created: true };
    } finally {
      if (name !== undefined) this.#names.delete(name);
    }
  }

  /** Two creators of one name: the second takes what the first makes, or is refused (I144). */
  async #join(params: Params, underway: Promise<string>): Promise<MethodResults["session/new"]> {
    if (!params.ensure) throw nameInUse(params.name ?? "");
    const sessionId = await underway;
    const record = this.#services.context.catalog.summary(sessionId);
    // Renamed or deleted while it was still starting.
    if (record?.name !== params.name || !record) throw nameInUse(params.name ?? "");
    const { created } = this.#ensure(params, record);
    return { ...(await untilReady(this.#services, sessionId)), created };
  }

  /** A repeat of a creation that succeeded before: the session as it is, or as it becomes while it is still being launched. */
  async #again(sessionId: string): Promise<SessionRow> {
    // Whoever wrote its record may have ended before that was durable.
    await this.#services.context.catalog.settle(sessionId);
    const state = this.#services.context.registry.published(sessionId)?.name;
    const launches = state === "launching" || state === "starting";
    return launches ? await untilReady(this.#services, sessionId) : this.#services.sessions.row(sessionId);
  }

  #ensure(params: Params, existing: SessionSummary): MethodResults["session/new"] {
    const same = existing.cwd === normalize(params.cwd) && existing.agent === (params.agent ?? "shell");
    if (!params.ensure || !same) throw nameInUse(params.name ?? "", existing);
    return { ...this.#services.sessions.row(existing.sessionId), created: false };
  }

  #publish(params: Params, hash: string): Promise<string> {
    const { context, names } = this.#services;
    const sessionId = context.ids.newId();
    return names.holding(params.name ?? null, sessionId, () => this.#publishAs(sessionId, params, hash));
  }

  async #publishAs(sessionId: string, params: Params, hash: string): Promise<string> {
    const { context } = this.#services;
    const at = new Date(context.clock.now()).toISOString();
    const cwd = normalize(params.cwd);
    const secrets = params.secretEnvironment ?? {};
    const record: SessionRecord = {
      schemaVersion: 1,
      sessionId,
      name: params.name ?? null,
      agent: params.agent ?? "shell",
      cwd,
      project: projectAt(cwd),
      wanted: "running",
      parentId: null,
      createdAt: at,
      lastActivityAt: at,
      creatingRequest: { requestId: params.requestId, hash },
      environment: sessionEnvironment(params.environment),
      secretNames: Object.keys(secrets),
      options: {},
      lastError: null,
      failure: null,
    };
    const directory = sessionDirectory(context.home, sessionId);
    try {
      await ensurePrivateDirectoryAsync(context.fs, directory);
      await context.catalog.create(record);
    } catch (error) {
      // What was refused leaves nothing behind that a later start would take for a damaged session.
      removeUnpublished(context.fs, directory);
      throw error;
    }
    context.secrets.set(sessionId, secrets);
    const generation = context.ids.newGeneration();
    context.registry.enroll(sessionId, { name: "launching", generation, launches: [], due: null }, [
      { type: "spawn", generation },
    ]);
    return sessionId;
  }
}

function removeUnpublished(fs: FileSystem, directory: string): void {
  try {
    removeFile(fs, `${directory}/session.json`);
    fs.rmdir(directory);
  } catch {
    // The first error is the one to tell; what stays is shown as what it is.
  }
}
