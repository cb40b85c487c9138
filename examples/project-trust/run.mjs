// `node run.mjs trust ./project` trusts a directory; `node run.mjs ./project` runs what its tool.json says, if it is trusted.
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  canonicalDirectory,
  createProjectTrustAuthority,
  policyOf,
  readTrustFile,
  withAdded,
  writeTrustFile,
} from "@holdfast/project-trust";
import { nodeFileSystem } from "@holdfast/recovery-journal";

const file = readTrustFile(nodeFileSystem, "trust.json");
if (file.kind === "malformed" || file.kind === "unreadable") stop(file);
const trusted = file.kind === "policy" ? file.directories : [];

const found = canonicalDirectory(process.argv.at(-1));
if (found.kind === "denied") stop(found);
const { directory } = found.identity;

if (process.argv[2] === "trust") {
  const [revision, addedAt] = [crypto.randomUUID(), new Date().toISOString()];
  writeTrustFile(nodeFileSystem, "trust.json", withAdded(trusted, { identity: found.identity, revision, addedAt }));
  console.log("trusted:", directory);
  process.exit();
}

const authority = createProjectTrustAuthority({ policy: policyOf(trusted) });
const grant = authority.authorize(directory);
if (grant.kind === "denied") stop(grant);
const outcome = await authority.withBinding(grant.binding, async (root, { signal }) => {
  const config = root.readFile("tool.json");
  if (config.kind !== "file") return config.kind;
  const [command, ...args] = JSON.parse(config.bytes).run;
  // Starts in the directory that is trusted, not in what has its name by then.
  const [status] = await once(spawn(command, args, { cwd: root.cwd, stdio: "inherit", signal }), "exit");
  return status;
});
console.log(outcome);
authority.dispose();

function stop(why) {
  console.log(why);
  process.exit(1);
}
