// Runs out of descriptors, and counts those that are left. Under a limit on open files of its own.
import { closeSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createProjectTrustAuthority } from "../../src/index.ts";
import { directory, granted, openFiles, verdictOf } from "./room.ts";

const trusted = directory("trusted");
writeFileSync(join(directory("trusted", "a"), "config"), "content");
const others = Array.from({ length: 40 }, (_, index) => directory(`other-${index}`));
const before = openFiles();

const authority = createProjectTrustAuthority({ policy: [trusted, ...others] });
const lazily = openFiles() - before;
const binding = granted(authority.authorize(trusted));
const one = openFiles() - before;

function exhaust(): readonly number[] {
  const taken: number[] = [];
  for (;;) {
    try {
      taken.push(openSync("/dev/null", "r"));
    } catch {
      // The limit: that is what was wanted.
      return taken;
    }
  }
}

/** With no descriptor left, and with one more each time, until it succeeds. */
async function withFew(): Promise<readonly string[]> {
  const taken = [...exhaust()];
  const seen: string[] = [];
  for (let verdict = ""; verdict !== "granted,file"; seen.push(verdict)) {
    const outcome = await authority.withBinding(binding, (root) => verdictOf(root.readFile("a/config")));
    verdict = `${verdictOf(authority.validate(binding))},${outcome.kind === "done" ? outcome.value : outcome.reason}`;
    const last = taken.pop();
    if (last !== undefined) closeSync(last);
  }
  for (const descriptor of taken) closeSync(descriptor);
  return [...new Set(seen)];
}

const few = await withFew();
const bindings = others.map((other) => granted(authority.authorize(other)));
const all = openFiles() - before;
for (const each of bindings) authority.revoke(each);
const revoked = openFiles() - before;
authority.dispose();
process.stdout.write(JSON.stringify({ lazily, one, few, all, revoked, disposed: openFiles() - before }));
