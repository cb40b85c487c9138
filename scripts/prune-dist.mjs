// Before a package is packed: removes from `dist` what no source makes any more. The compiler leaves it there, and a build out of
// the cache does not take it away either.
import { execFileSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { join, relative } from "node:path";

const files = execFileSync("tsc", ["-p", "tsconfig.build.json", "--listFilesOnly"], { encoding: "utf8" }).split("\n");
const stems = files.filter((file) => file.endsWith(".ts")).map((file) => relative("src", file).slice(0, -".ts".length));
const made = new Set(stems.filter((stem) => !stem.startsWith("..")));
if (made.size === 0) throw new Error("tsconfig.build.json names no sources");

for (const entry of readdirSync("dist", { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name);
  const output = relative("dist", path);
  // The bundles are of another maker.
  if (!entry.isFile() || output.startsWith("bin/")) continue;
  const stem = /^(.*?)(?:\.d\.ts|\.js)(?:\.map)?$/.exec(output)?.[1];
  if (stem !== undefined && !made.has(stem)) rmSync(path);
}
