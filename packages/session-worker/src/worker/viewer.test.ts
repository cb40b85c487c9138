import { mkdtempSync, rmSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Duplex } from "node:stream";
import { expect, it } from "vitest";
import { Peer } from "@holdfast/client/protocol";
import { openSessionStore } from "../transport/index.ts";
import { Viewer } from "./viewer.ts";

it("I146 a viewer leaves when the transcript was taken away, instead of asking for it for ever", async () => {
  const directory = mkdtempSync(join(tmpdir(), "viewer-"));
  const opened = await openSessionStore({
    directory,
    sessionId: "s",
    owner: { generation: "00000000-0000-4000-8000-000000000001", identity: {} },
    probeOwner: () => "gone",
    engine: "inline",
  });
  if (opened.kind !== "opened") throw new Error(opened.kind);
  const { store } = opened;
  const written: string[] = [];
  const stream = new Duplex({
    read: () => undefined,
    write: (chunk, _encoding, callback) => {
      written.push(String(chunk));
      callback();
    },
  });
  const viewer = new Viewer({ peer: new Peer(stream), store, from: "now", follow: true });
  const running = viewer.run();
  unlinkSync(store.transcriptPath);
  store.append({ type: "message", text: "unseen" });
  viewer.wake();
  await running;
  expect(written.join("")).toContain("reattach");
  await store.close();
  rmSync(directory, { recursive: true });
});
