// As a user who may enter a directory and not list it.
import { mkdirSync } from "node:fs";
import { createProjectTrustAuthority } from "../../src/index.ts";
import { openFiles, verdictOf } from "./room.ts";

const [, , , parent = ""] = process.argv;
const before = openFiles();
const names = ["open", "Ünïcode", "1", "closed", "below-closed/project"];
const authority = createProjectTrustAuthority({ policy: names.map((name) => `${parent}/${name}`) });
const verdicts = names.map((name) => verdictOf(authority.authorize(`${parent}/${name}`)));
authority.dispose();
let listed = "listed";
try {
  mkdirSync(`${parent}/new`);
} catch {
  listed = "not ours";
}
process.stdout.write(JSON.stringify({ verdicts, listed, leftOpen: openFiles() - before }));
