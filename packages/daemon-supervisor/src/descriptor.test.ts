import { expect, it } from "vitest";
import { createObserver } from "@holdfast/shared-process";
import { descriptorSchema, encodeDescriptor } from "./descriptor.ts";
import { processOf } from "./lifecycle/samples.testing.ts";

const identity = createObserver({ library: "never" }).self();
const process = { ...processOf("g"), identity, cgroupPath: "/sys/fs/cgroup/holdfast-0123456789ab-g" };
const shape = { lifecycle: "ready", process, launches: [] } as const;
const text = encodeDescriptor("s", shape, { epoch: 1, at: "2025-01-01T00:00:00.000Z" });

it("names the cgroup of its worker", () => {
  expect(descriptorSchema.parse(JSON.parse(text)).process).toEqual(process);
});

it("is read without one, as a worker has that was launched before there were cgroups", () => {
  const older = JSON.parse(text);
  delete older.process.cgroupPath;
  expect(descriptorSchema.parse(older).process).toEqual({ ...process, cgroupPath: null });
});
