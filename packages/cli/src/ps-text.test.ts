import type { PsReport } from "@holdfast/daemon-supervisor/offline";
import { expect, it } from "vitest";
import { psText } from "./ps-text.ts";

const daemon: PsReport["daemons"][number] = {
  home: "/h",
  socketPath: "/h/d.sock",
  pid: 7,
  startId: "i",
  epoch: 2,
  version: "0.0.0",
  status: "current",
  sessionCount: 0,
  uptimeSeconds: 12.345_678,
  isDefault: false,
};

it("says how long the daemon is up, in whole seconds", () => {
  const report = { daemons: [daemon], workers: [], orphans: [], scan: { complete: true, problems: [] } };
  const style = { columns: null, colour: false, userHome: null };
  expect(psText(report, style)).toBe("/h: daemon current, pid 7, epoch 2, up 12 s\nno workers");
});
