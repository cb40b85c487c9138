// Writes the golden files that are missing: in this package, `node --conditions=@holdfast/source --import tsx test/write-golden.ts`.
// One that is there is never overwritten; those of a format that was never released may be removed first.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { goldenRoot, madeNow, VERDICT, verdictOn } from "./golden.ts";

for (const [name, files] of Object.entries(await madeNow())) {
  const directory = goldenRoot + name;
  if (existsSync(directory)) continue;
  mkdirSync(directory, { recursive: true });
  for (const [file, bytes] of Object.entries(files)) writeFileSync(`${directory}/${file}`, bytes);
  writeFileSync(`${directory}/${VERDICT}`, `${JSON.stringify(verdictOn(files), null, 2)}\n`);
}
