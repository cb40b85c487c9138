import { SimulatedDisk } from "@holdfast/recovery-journal/testing";
import { expect, it } from "vitest";
import { encodeRecord, readSessionRecordAt } from "./session-record-file.ts";
import { sessionRecordOf } from "./session-record.testing.ts";

const [ID, OTHER] = ["01a2aaaa-0000-7000-8000-000000000001", "01a2aaaa-0000-7000-8000-000000000002"] as const;

it("I142 a record that is of another session is not taken, and says whose it is", () => {
  const disk = new SimulatedDisk();
  disk.mkdir("/s", 0o700);
  disk.plant("/s/session.json", Buffer.from(encodeRecord(sessionRecordOf(OTHER))));
  const reason = `session.json is of another session, ${OTHER}`;
  expect(readSessionRecordAt(disk, "/s", ID)).toEqual({ kind: "unreadable", sessionId: ID, reason });
  expect(readSessionRecordAt(disk, "/s", OTHER).kind).toBe("record");
});
