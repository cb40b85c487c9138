import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const packages = fileURLToPath(new URL("../..", import.meta.url));
/** What is shipped: neither tests nor what they share, and nothing private. */
const isShipped = (path: string): boolean =>
  /^[a-z-]+\/src\/.*\.ts$/.test(path) && !/\.test\.ts$|\.testing\.ts$|\/testing\/|\/proof\/|^simulator\//.test(path);
const sources = readdirSync(packages, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .flatMap(({ name }) =>
    readdirSync(`${packages}/${name}/src`, { recursive: true, encoding: "utf8" }).map((path) => `${name}/src/${path}`),
  )
  .filter(isShipped)
  .map((path) => ({ path, text: readFileSync(`${packages}/${path}`, "utf8") }));

const naming = (pattern: RegExp): string[] => sources.filter(({ text }) => pattern.test(text)).map(({ path }) => path);

it("I22 whoever stops, finalizes, reclaims or adopts asks one function whether a stored identity lives", () => {
  const asking = naming(/\bobserver\.verdict\(|\bcompareIdentities\(/).filter(
    (path) => !path.startsWith("shared-process/"),
  );
  expect(asking).toEqual([
    // A worker asks who may have its journal, and whom a sweep meets: neither stops or reclaims anybody.
    "session-worker/src/transport/recorded-supervisor.ts",
    "session-worker/src/transport/verdict.ts",
    "session-worker/src/worker/launch.ts",
  ]);
});

it("I91 no variable relaxes a fence: these are all that Holdfast reads of its own", () => {
  const names = sources.flatMap(({ text }) => text.match(/\bHOLDFAST_[A-Z_]+/g) ?? []);
  expect([...new Set(names)].toSorted()).toEqual([
    "HOLDFAST_GENERATION",
    "HOLDFAST_HOME",
    "HOLDFAST_SESSION",
    "HOLDFAST_VERSION",
  ]);
});
