// Bundles the three programs (command, supervisor, worker) so that each loads only what it runs.
import { readFileSync } from "node:fs";
import { build } from "esbuild";

const { version } = JSON.parse(readFileSync("packages/cli/package.json", "utf8"));

await build({
  entryPoints: {
    agent: "packages/cli/src/main.ts",
    supervisor: "packages/daemon-supervisor/src/program.ts",
    worker: "packages/session-worker/src/program.ts",
  },
  outdir: "packages/cli/dist/bin",
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
