import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createObserver } from "@holdfast/shared-process";
import { descriptorSchema, encodeDescriptor, shapeOf } from "./descriptor.ts";
import { processOf } from "./lifecycle/samples.testing.ts";

const identity = createObserver({ library: "never" }).self();
const process = { ...processOf("g"), identity, cgroupPath: "/sys/fs/cgroup/holdfast-0123456789ab-g" };
const shape = { lifecycle: "ready", process, launches: [] } as const;
const text = encodeDescriptor("s", shape, { epoch: 1, at: "2025-01-01T00:00:00.000Z" });

it("names the cgroup of its worker", () => {
  expect(descriptorSchema.parse(JSON.parse(text)).process).toEqual(process);
});

it("is read without one, and without its worker's protocol, as they were written before there was such a thing", () => {
  const older = JSON.parse(text);
  delete older.process.cgroupPath;
  delete older.process.protocol;
  expect(descriptorSchema.parse(older).process).toEqual({ ...process, cgroupPath: null, protocol: 1 });
});

/** Never edited: what was written once is read for ever, and what is written now is that. */
it("reads and writes the descriptor of version 2 as it stands in its golden file", () => {
  const golden = readFileSync(join(import.meta.dirname, "..", "golden", "descriptor-v2.json"), "utf8");
  const descriptor = descriptorSchema.parse(JSON.parse(golden));
  const { schemaVersion, sessionId, epoch, updatedAt } = descriptor;
  expect(schemaVersion).toBe(2);
  expect(encodeDescriptor(sessionId, shapeOf(descriptor), { epoch, at: updatedAt })).toBe(golden);
});
