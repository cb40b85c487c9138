import { Duplex } from "node:stream";
import { expect, it } from "vitest";
import { encodeFrame } from "./frames.ts";
import { ConnectionLost, Peer } from "./peer.ts";

/** One end of a connection; what the other end would read is in `written`, and it reads only when told to. */
function connection(highWaterMark = 64) {
  const written: string[] = [];
  let flush: (() => void) | null = null;
  const stream = new Duplex({
    highWaterMark,
    read: () => undefined,
    write: (chunk, _encoding, callback) => {
      written.push(String(chunk));
      flush = callback;
    },
  });
  return {
    stream,
    written,
    drain: () => {
      const waiting = flush;
      flush = null;
      waiting?.();
    },
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it("I116 does not read on while its answers are not read", async () => {
  const { stream, drain } = connection();
  const asked: number[] = [];
  const peer = new Peer(stream, { onRequest: async () => ({ answer: "x".repeat(200), number: asked.push(0) }) });
  for (let id = 1; id <= 50; id += 1) {
    stream.push(encodeFrame({ id, method: "any" }));
    await turn();
  }
  expect(asked.length).toBeLessThan(5);
  for (let round = 0; round < 200 && asked.length < 50; round += 1) {
    drain();
    await turn();
  }
  expect(asked).toHaveLength(50);
  peer.destroy();
});

it("I116 a malformed line ends its own connection, and says why", async () => {
  const { stream, written } = connection();
  const peer = new Peer(stream);
  stream.push("{not json\n");
  await turn();
  expect(written.join("")).toContain("malformed frame");
  expect(peer.closed).toBe(true);
});

it("a notification that its handler cannot take ends the connection and not the program", async () => {
  const { stream } = connection();
  const bugs: unknown[] = [];
  const peer = new Peer(stream, {
    onNotification: () => {
      throw new Error("cannot");
    },
    onBug: (error) => bugs.push(error),
  });
  stream.push(encodeFrame({ method: "news" }));
  await turn();
  expect([peer.closed, bugs.length]).toEqual([true, 1]);
});

it("I138 refuses a request that is too long for a line, instead of losing the connection over it", async () => {
  const { stream, written } = connection();
  const peer = new Peer(stream, { maxLineBytes: 100 });
  await expect(peer.request("any", { text: "\u0001".repeat(20) })).rejects.toMatchObject({ code: "usage" });
  expect([written, peer.closed]).toEqual([[], false]);
  peer.destroy();
});

it("tells every caller whose answer will not come", async () => {
  const { stream } = connection();
  const peer = new Peer(stream);
  const answer = peer.request("any", {});
  peer.destroy();
  await expect(answer).rejects.toBeInstanceOf(ConnectionLost);
  await expect(peer.request("any", {})).rejects.toBeInstanceOf(ConnectionLost);
});
