// Bundles the three programs (command, supervisor, worker) so that each loads only what it runs.
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { basename } from "node:path";
import { build } from "esbuild";

const { version } = JSON.parse(readFileSync("packages/cli/package.json", "utf8"));

const outdir = "packages/cli/dist/bin";
const { metafile } = await build({
  entryPoints: {
    agent: "packages/cli/src/main.ts",
    supervisor: "packages/daemon-supervisor/src/program.ts",
    worker: "packages/session-worker/src/program.ts",
  },
  outdir,
  metafile: true,
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20",
  minifySyntax: true,
  minifyWhitespace: true,
  conditions: ["@holdfast/source"],
  define: { "process.env.HOLDFAST_VERSION": JSON.stringify(version) },
  external: ["koffi"],
  banner: { js: 'import { createRequire as $r } from "node:module"; const require = $r(import.meta.url);' },
});

// Chunks carry a hash of their content; those of earlier builds are no part of the package.
const made = new Set(Object.keys(metafile.outputs).map((path) => basename(path)));
for (const name of readdirSync(outdir)) if (!made.has(name)) rmSync(`${outdir}/${name}`);
