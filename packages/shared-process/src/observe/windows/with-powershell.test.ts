import { expect, it } from "vitest";
import { createWindowsObserver } from "./observer.ts";
import { record, WindowsWorld } from "../system-worlds.testing.ts";

it("runs programs of the system by their full path, and nothing in them but digits is ours", () => {
  const ran: (readonly [string, readonly string[]])[] = [];
  const world = new WindowsWorld(false);
  const observer = createWindowsObserver({
    ports: world,
    mode: "refuse",
    clock: world.clock,
    library: null,
    reason: "koffi is not installed",
    run: (command, args) => {
      ran.push([command, args]);
      const script = args.at(-1) ?? "";
      return script.includes("Kill()") ? "killed" : "133500000000000001 runs";
    },
  });
  expect(observer.signal(record(world, observer), "SIGKILL").kind).toBe("sent");
  const folder = `${process.env["SystemRoot"] ?? "C:\\Windows"}\\System32\\`;
  expect(ran.every(([command]) => command.startsWith(folder))).toBe(true);
  const scripts = ran.filter(([command]) => command.endsWith("powershell.exe")).map(([, args]) => args);
  expect(scripts).toHaveLength(3);
  for (const args of scripts) {
    expect(args.slice(0, -1)).toEqual(["-NoProfile", "-NonInteractive", "-Command"]);
    expect(args.at(-1)).toContain("GetProcessById(4712)");
    // Node would have to escape them, and PowerShell would read the escapes.
    expect(args.at(-1)).not.toMatch(/["\\\n]/);
  }
  const kill = scripts.at(-1)?.at(-1) ?? "";
  expect(kill.indexOf("$p.Handle")).toBeLessThan(kill.indexOf("-ne 133500000000000001"));
  expect(kill.indexOf("-ne 133500000000000001")).toBeLessThan(kill.indexOf("$p.Kill()"));
});
