// Writes the golden files that are missing: in this package, `node --conditions=@holdfast/source --import tsx
// test/write-golden.ts`. One that is there is never overwritten; those of a format that was never released may be
// removed first.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { FILE, goldenRoot, madeNow, VERDICT, verdictOn } from "./golden.ts";

for (const [name, bytes] of Object.entries(madeNow())) {
  const directory = goldenRoot + name;
  if (existsSync(directory)) continue;
  mkdirSync(directory, { recursive: true });
  writeFileSync(`${directory}/${FILE}`, bytes);
  writeFileSync(`${directory}/${VERDICT}`, `${JSON.stringify(verdictOn(bytes), null, 2)}\n`);
}
