import { describe, expect, it } from "vitest";
import { systemClock } from "./clock.ts";
import { createIdSource, systemIds } from "./ids.ts";

describe("ids", () => {
  it("are UUIDs of version 7 that sort by their making, also within one millisecond and when the clock is set back", () => {
    const times = [...Array.from({ length: 9_000 }, () => 1_700_000_000_000), 1_600_000_000_000, 1_700_000_000_050];
    let at = 0;
    const newId = createIdSource(() => times[at++] ?? 0);
    const made = times.map(() => newId());
    expect(made.toSorted()).toEqual(made);
    expect(new Set(made).size).toBe(made.length);
    for (const id of made) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it("begin with the time in milliseconds", () => {
    const before = systemClock.now();
    const time = Number.parseInt(systemIds.newId().replaceAll("-", "").slice(0, 12), 16);
    expect(time).toBeGreaterThanOrEqual(before);
    expect(time).toBeLessThanOrEqual(systemClock.now() + 1);
  });

  it("of generations are UUIDs of version 4, and tokens are base64url of the asked size", () => {
    expect(systemIds.newGeneration()).toMatch(/^[0-9a-f-]{14}4[0-9a-f]{3}-[89ab]/);
    expect(systemIds.newToken()).toMatch(/^[\w-]{43}$/);
    expect(systemIds.newToken(16)).toMatch(/^[\w-]{22}$/);
    expect(systemIds.newToken()).not.toBe(systemIds.newToken());
  });
});
