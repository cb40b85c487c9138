import { expect, it } from "vitest";
import type { Authenticate } from "../transport/index.ts";
import { EpochFence } from "./epoch-fence.ts";

const identity = {
  machineId: null,
  bootId: null,
  pid: 1,
  pidNamespace: null,
  timeNamespace: null,
  startTicks: null,
  pidfsInode: null,
};
const orders = {
  protocol: 1,
  home: "/h",
  sessionId: "s",
  generation: "g",
  token: "secret",
  marker: "m",
  socketPath: "/s",
  cgroupPath: null,
  epoch: 3,
  supervisor: null,
};
const params = (changes: Partial<Authenticate>): Authenticate => ({
  protocol: 1,
  token: "secret",
  sessionId: "s",
  generation: "g",
  epoch: 3,
  supervisor: identity,
  purpose: "control",
  ...changes,
});

it("admits the newest epoch that proved itself, and names it to older ones", () => {
  const fence = new EpochFence(orders);
  expect(fence.admit(params({ epoch: 2 }))).toEqual({ kind: "refused", why: "stale_epoch", epoch: 3 });
  expect(fence.admit(params({ epoch: 9, token: "wrong" }))).toEqual({ kind: "refused", why: "token" });
  expect(fence.admit(params({}))).toEqual({ kind: "admitted" });
  expect(fence.admit(params({ epoch: 5 }))).toEqual({ kind: "admitted" });
  expect([fence.isCurrent(3), fence.isCurrent(5)]).toEqual([false, true]);
  expect(fence.admit(params({ generation: "x" }))).toEqual({ kind: "refused", why: "generation" });
  expect(fence.admit(params({ protocol: 2, epoch: 5 }))).toEqual({ kind: "refused", why: "protocol", protocol: 1 });
});

it("I165 names the epoch also to a stale supervisor of another protocol, and takes a newer one's", () => {
  const fence = new EpochFence(orders);
  expect(fence.admit(params({ protocol: 2, epoch: 2 }))).toEqual({ kind: "refused", why: "stale_epoch", epoch: 3 });
  expect(fence.admit(params({ protocol: 2, epoch: 4 }))).toEqual({ kind: "refused", why: "protocol", protocol: 1 });
  expect(fence.isCurrent(3)).toBe(false);
  expect(fence.admit(params({ protocol: 2, epoch: 9, token: "wrong" }))).toEqual({ kind: "refused", why: "token" });
  expect(fence.isCurrent(4)).toBe(true);
});
