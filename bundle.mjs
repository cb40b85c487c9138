// Bundles the three programs (command, supervisor, worker) so that each loads only what it runs. They are CommonJS, one file each: Node
// starts its loader of ES modules only for a program that is one, and each file of its own costs a program that starts often.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const { version } = JSON.parse(readFileSync("packages/cli/package.json", "utf8"));

const outdir = "packages/cli/dist/bin";
const entryPoints = {
  agent: "packages/cli/src/main.ts",
  supervisor: "packages/daemon-supervisor/src/program.ts",
  worker: "packages/session-worker/src/program.ts",
};
await build({
  entryPoints,
  outdir,
  bundle: true,
  format: "cjs",
  platform: "node",
  target: "node20",
  minifySyntax: true,
  minifyWhitespace: true,
  conditions: ["@holdfast/source"],
  define: { "process.env.HOLDFAST_VERSION": JSON.stringify(version), "import.meta.url": "moduleUrl" },
  external: ["koffi"],
  banner: { js: 'const moduleUrl = require("node:url").pathToFileURL(__filename).href;' },
});
// The package around it says that its files are ES modules.
writeFileSync(`${outdir}/package.json`, '{ "type": "commonjs" }\n');

// What earlier builds left is no part of the package.
const made = new Set(["package.json", ...Object.keys(entryPoints).map((name) => `${name}.js`)]);
for (const name of readdirSync(outdir)) if (!made.has(name)) rmSync(`${outdir}/${name}`);
