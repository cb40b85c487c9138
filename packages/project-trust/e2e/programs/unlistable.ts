// As a user who may enter a directory and not list it.
import { readdirSync } from "node:fs";
import { createProjectTrustAuthority } from "../../src/index.ts";
import { openFiles, verdictOf } from "./room.ts";

const [, , , parent = ""] = process.argv;
const before = openFiles();
const names = ["open", "Ünïcode", "1", "closed", "below-closed/project"];
const authority = createProjectTrustAuthority({ policy: names.map((name) => `${parent}/${name}`) });
const verdicts = names.map((name) => verdictOf(authority.authorize(`${parent}/${name}`)));
authority.dispose();
let listing = "possible";
try {
  readdirSync(parent);
} catch {
  // What this is about.
  listing = "refused";
}
process.stdout.write(JSON.stringify({ verdicts, listing, leftOpen: openFiles() - before }));
