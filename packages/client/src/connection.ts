import { connect } from "node:net";
import type { Socket } from "node:net";
import { int, looseObject, object, array, string } from "zod/mini";
import { PROTOCOL_VERSION, Peer, ProtocolError } from "./protocol/index.ts";
import type { Hello } from "./protocol/index.ts";

export interface Connection {
  readonly peer: Peer;
  readonly socket: Socket;
  readonly hello: Hello;
}

export type Opening =
  | { readonly kind: "open"; readonly connection: Connection }
  /** Ended before its hello; `errno` where the system gave one. */
  | { readonly kind: "closed"; readonly errno: string | null }
  | { readonly kind: "refused"; readonly error: ProtocolError };

export interface OpenOptions {
  readonly socketPath: string;
  readonly onNotification?: (method: string, params: unknown) => void;
  readonly onClose?: () => void;
}

/** Longest path of a unix socket in bytes; Node cuts a longer one silently, and would reach another's socket (I147). */
const MAX_SOCKET_PATH_BYTES = 107;

const greeting = looseObject({ protocol: looseObject({ name: string(), version: int() }) });
const helloSchema = looseObject({
  protocol: object({ name: string(), version: int() }),
  schemaRevision: int(),
  capabilities: array(string()),
  version: string(),
  epoch: int(),
  home: string(),
  pid: int(),
  startId: string(),
});

/** Connects and waits for the hello, without a deadline of its own; `destroy` ends the attempt as `closed`. */
export function openConnection(options: OpenOptions): { opening: Promise<Opening>; destroy: () => void } {
  if (Buffer.byteLength(options.socketPath) > MAX_SOCKET_PATH_BYTES) {
    const error = new ProtocolError("path_too_long", `socket path longer than 107 bytes: ${options.socketPath}`, {
      hint: "use a shorter --home",
    });
    return { opening: Promise.resolve({ kind: "refused", error }), destroy: () => {} };
  }
  const socket = connect(options.socketPath);
  let errno: string | null = null;
  socket.on("error", (error: NodeJS.ErrnoException) => {
    errno = error.code ?? null;
  });
  const opening = new Promise<Opening>((resolve) => {
    let greeted = false;
    const peer = new Peer(socket, {
      onNotification: (method, params) => {
        if (greeted) return options.onNotification?.(method, params);
        greeted = true;
        const read = readHello(method, params);
        if (!(read instanceof ProtocolError)) {
          resolve({ kind: "open", connection: { peer, socket, hello: read } });
          return;
        }
        resolve({ kind: "refused", error: read });
        socket.destroy();
      },
      onClose: () => {
        resolve({ kind: "closed", errno });
        if (greeted) options.onClose?.();
      },
    });
  });
  return { opening, destroy: () => socket.destroy() };
}

/** Another protocol may say everything else differently, so its number is looked at first. */
function readHello(method: string, params: unknown): Hello | ProtocolError {
  const hint = "agent daemon restart";
  const greeted = greeting.safeParse(params);
  if (method !== "hello" || !greeted.success || greeted.data.protocol.name !== "holdfast")
    return new ProtocolError("version_mismatch", "what answers on the daemon's socket sent no valid hello", { hint });
  const { version } = greeted.data.protocol;
  if (version !== PROTOCOL_VERSION) {
    const message = `the daemon speaks protocol ${version}, this program ${PROTOCOL_VERSION}`;
    return new ProtocolError("version_mismatch", message, { hint, data: { protocol: version } });
  }
  const hello = helloSchema.safeParse(params);
  if (!hello.success) return new ProtocolError("version_mismatch", "the daemon's hello is malformed", { hint });
  return { ...hello.data, protocol: { name: "holdfast", version } };
}
