import { closeSync } from "node:fs";
import { rethrowLater } from "../errors.ts";
import { checked } from "./call.ts";
import type { Koffi } from "./koffi.ts";

const EPOLL_CLOEXEC = 0o2000000;
const EPOLL_CTL_ADD = 1;
const EPOLL_CTL_DEL = 2;
const EPOLLIN = 0x1;
const EPOLLONESHOT = 1 << 30;
const BATCH = 64;
/** `struct epoll_event` is packed on x86-64 alone. */
const EVENT_BYTES = process.arch === "x64" || process.arch === "ia32" ? 12 : 16;
const TOKEN_AT = EVENT_BYTES - 8;
const WORD = Int32Array.BYTES_PER_ELEMENT;

export interface Epoll {
  watch(fd: number, until: "ended" | "reaped", callback: () => void): Disposable;
}

/**
 * One epoll descriptor for all pidfds, and one `koffi.node.poll` on it, made with the first watch and kept for as long as this
 * process lives. That function aborts Node when a descriptor is wrong, doubled or closed under it; this way every mistake is
 * an errno of epoll_ctl(2) instead.
 */
export function createEpoll(koffi: Koffi): Epoll {
  const library = koffi.load(null);
  const create = library.func("int epoll_create1(int flags)");
  const control = library.func("int epoll_ctl(int ep, int operation, int fd, void *event)");
  const wait = library.func("int epoll_wait(int ep, void *events, int size, int timeout)");
  const watched = new Map<number, () => void>();
  const events = new Int32Array((BATCH * EVENT_BYTES) / WORD);
  let epoll: { readonly fd: number; readonly poll: object } | null = null;
  let lastToken = 0;

  const collect = (fd: number): void => {
    for (;;) {
      const count = checked(koffi, "epoll_wait", () => wait(fd, events, BATCH, 0));
      for (let index = 0; index < count; index += 1) report(events[(index * EVENT_BYTES + TOKEN_AT) / WORD]);
      if (count < BATCH) return;
    }
  };
  const report = (token = 0): void => {
    const callback = watched.get(token);
    watched.delete(token);
    try {
      callback?.();
    } catch (error) {
      // Thrown into the library it would vanish.
      rethrowLater(error);
    }
  };
  const begin = (): { readonly fd: number; readonly poll: object } => {
    const fd = checked(koffi, "epoll_create1", () => create(EPOLL_CLOEXEC));
    try {
      const poll = koffi.node.poll(fd, { readable: true }, () => collect(fd));
      poll.unref();
      return { fd, poll };
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  };
  return {
    watch: (fd, until, callback) => {
      epoll ??= begin();
      const ep = epoll.fd;
      const token = (lastToken = (lastToken + 1) % 0x7fff_ffff);
      const event = Buffer.alloc(EVENT_BYTES);
      // A hang-up, which a pidfd gives when its process is reaped, is always reported.
      event.writeUInt32LE((until === "ended" ? EPOLLIN : 0) | EPOLLONESHOT, 0);
      event.writeInt32LE(token, TOKEN_AT);
      checked(koffi, "epoll_ctl", () => control(ep, EPOLL_CTL_ADD, fd, event));
      watched.set(token, callback);
      return {
        [Symbol.dispose]: () => {
          watched.delete(token);
          // After an event the descriptor is still in the set, disarmed; this takes it out as well.
          control(ep, EPOLL_CTL_DEL, fd, event);
        },
      };
    },
  };
}
