import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ScriptedHome } from "../test/scripted-server.ts";
import { findOwner } from "./find-owner.ts";

let place: ScriptedHome;
beforeEach(() => {
  place = new ScriptedHome();
});
afterEach(() => place.remove());
const write = (name: string, text: string): void => writeFileSync(join(place.home, "owner", name), text);

it("takes the highest epoch by number, not by text", () => {
  place.record(9);
  place.record(10);
  expect(findOwner(place.home)).toMatchObject({ kind: "found", record: { epoch: 10 } });
});

it("passes over names and records that are not valid", () => {
  place.record(2);
  for (const name of ["03.json", "x.json", "4.json.tmp", "-5.json"]) write(name, "{}");
  write("6.json", "{}");
  place.record(7, { epoch: 8 });
  expect(findOwner(place.home)).toMatchObject({ kind: "found", record: { epoch: 2 } });
});

it("says none for a home that does not exist or has no record", () => {
  expect(findOwner(join(place.home, "absent"))).toEqual({ kind: "none" });
  expect(findOwner(place.home)).toEqual({ kind: "none" });
});

it("I134 says unreadable, with the highest path, when no record can be understood", () => {
  write("1.json", "");
  write("2.json", "[]");
  expect(findOwner(place.home)).toMatchObject({ kind: "unreadable", path: join(place.home, "owner", "2.json") });
});
