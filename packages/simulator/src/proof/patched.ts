import { readFileSync } from "node:fs";
import { build } from "esbuild";
import type { Plugin } from "esbuild";
import type { Mutant } from "./mutants.ts";

/** Bundles a program of this package, with one file of the production code changed. Resolves when it is written. */
export async function bundle(program: string, outfile: string, mutant: Mutant | null): Promise<void> {
  await build({
    entryPoints: [new URL(`../${program}`, import.meta.url).pathname],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    conditions: ["@holdfast/source"],
    define: { "process.env.HOLDFAST_VERSION": '"0"' },
    external: ["koffi"],
    banner: {
      js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
    },
    plugins: mutant === null ? [] : [patch(mutant)],
  });
}

const patch = ({ file, from, to }: Mutant): Plugin => ({
  name: "patch",
  setup(builder) {
    let isDone = false;
    builder.onLoad({ filter: new RegExp(`${file.replaceAll(/[./]/g, String.raw`\$&`)}$`) }, ({ path }) => {
      const source = readFileSync(path, "utf8");
      if (source.split(from).length !== 2) throw new Error(`${file} does not have it once: ${from}`);
      isDone = true;
      return { contents: source.replace(from, () => to), loader: "ts" };
    });
    builder.onEnd(() => {
      if (!isDone) throw new Error(`${file} is not part of the program`);
    });
  },
});
