import { expect, it } from "vitest";
import { Home } from "../support/home.ts";
import { errorCode } from "../support/rows.ts";
import { waitFor } from "../support/wait-for.ts";
import { Column } from "./column.ts";
import { OwnNode, descriptorCount } from "./hold.ts";
import { sessionsByName } from "./sessions.ts";
import { readVerbs } from "./table.ts";

it("every verb in starting", async () => {
  await using home = await Home.open();
  const node = await OwnNode.startDaemon(home);
  node.shut();
  const names = ["still", "steered", "ended", "hidden"] as const;
  const creations = names.map((name) => home.start(["session", "new", "--name", name, "--json"]));
  const launched = (): boolean => descriptorCount(home) === names.length;
  await waitFor(launched, "all sessions are starting", 20_000);
  const { still, steered, ended, hidden } = sessionsByName(await home.list(), names);

  const column = new Column(home, "starting", { seen: false });
  const waiting = [column.begin(still, "prompt", "follow-up"), column.begin(steered, "steer", "resume", "retry")];
  const endings = [column.begin(ended, "stop"), column.begin(hidden, "archive")];
  await column.run(still, "cancel", "passivate", "delete", "unarchive", "rename", "set");
  await column.run(still, ...readVerbs);
  for (const { done } of endings) await done();
  expect(waiting.map(({ pending }) => pending())).toEqual([
    ["prompt", "follow-up"],
    ["steer", "resume", "retry"],
  ]);
  node.open();
  for (const { done } of waiting) await done();
  expect(await column.finish()).toEqual([]);
  const created = await Promise.all(creations.map(async (creation) => await creation.result()));
  expect(created.map(({ code, stderr }) => [code, errorCode(stderr)])).toEqual([
    [0, undefined],
    [0, undefined],
    [6, "session_stopping"],
    [6, "session_stopping"],
  ]);
}, 90_000);
