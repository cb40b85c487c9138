import type { SessionDetails } from "@holdfast/client/protocol";
import { expect, it } from "vitest";
import { detailsText, sessionTable } from "./rows.ts";

const details: SessionDetails = {
  sessionId: "s",
  name: "build",
  agent: "shell",
  cwd: "/home/me/project",
  project: "/home/me/project",
  lifecycle: "live",
  state: "ready",
  activity: "idle",
  pid: 1,
  generation: "g",
  createdAt: "2030-01-01T00:00:00.000Z",
  lastActivityAt: "2030-01-01T00:00:00.000Z",
  parentId: null,
  childCount: 0,
  openOperations: 0,
  memoryBytes: 55_803_904,
  reason: null,
  options: [],
  usage: null,
  inDoubt: [],
  origin: { agent: "shell", agentSessionId: null, restoredBy: "fresh" },
};

it("memory is in MiB for people", () => {
  const text = detailsText(details);
  expect(text).toMatch(/^memory +53 MiB$/m);
  expect(text).not.toContain("55803904");
});

it("directories are short on a terminal and whole off it", () => {
  expect(sessionTable([details], { columns: 80, colour: false, userHome: "/home/me" })).toContain("~/project");
  expect(sessionTable([details], { columns: null, colour: false, userHome: null })).toBe(
    "s\tbuild\tshell\tready\t/home/me/project",
  );
});
