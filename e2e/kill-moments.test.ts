import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Home } from "./support/home.ts";
import type { SessionRow } from "./support/rows.ts";
import { waitFor } from "./support/wait-for.ts";

/** A supervisor's alone are in `requests-once.test.ts`, `supervisor-killed.test.ts` and `moments.test.ts`. */
const moments = ["prompt_accepted", "turn_started"] as const;
const victims = {
  worker: async (home: Home, row: SessionRow) => await home.kill(home.worker(row)),
  both: async (home: Home, row: SessionRow) => {
    await Promise.all([home.kill(home.daemon()), home.kill(home.worker(row))]);
  },
};

/** The transcript as it stands on disk: no daemon is asked, so that the moment is not moved. */
const reached = (home: Home, row: SessionRow, text: string): boolean => {
  const path = join(home.path, "sessions", row.sessionId, "transcript.jsonl");
  return existsSync(path) && readFileSync(path, "utf8").includes(text);
};

describe.each(Object.entries(victims))("the %s killed with -9", (name, kill) => {
  it.each(moments)("I137 I143 at %s: what was acknowledged ran, and nothing ran twice", async (moment) => {
    await using home = await Home.open();
    const row = await home.newSession("s");
    const log = join(home.files, "log");
    const prompt = ["prompt", "s", `echo ran >> ${log}; echo out`, "--request-id", "p"];
    const client = home.start(prompt);
    await waitFor(() => reached(home, row, `"${moment}"`) || client.hasEnded(), `the transcript has ${moment}`);
    await kill(home, row);
    const first = await client.result();
    const again = await home.agent(prompt);
    const ran = existsSync(log) ? readFileSync(log, "utf8") : "";
    // Interrupted is the only other outcome, and it is the same for whoever asks again.
    expect([name, moment, [0, 8].includes(first.code ?? -1), again.code]).toEqual([name, moment, true, first.code]);
    expect(first.code === 0 ? ["ran\n"] : ["", "ran\n"]).toContain(ran);
    expect(await home.untilState("s", "ready")).toMatchObject({ sessionId: row.sessionId, openOperations: 0 });
    expect((await home.ok(["prompt", "s", "echo served"])).stdout).toBe("served\n");
  });
});
