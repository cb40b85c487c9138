import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { bundle } from "../../packages/simulator/src/proof/patched.ts";
import type { Mutant } from "../../packages/simulator/src/proof/mutants.ts";

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
}

/** The simulator's program, with or without a defect. */
export class Simulator implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "hf-sim-"));

  static async make(mutant: Mutant | null = null): Promise<Simulator> {
    const simulator = new Simulator();
    await bundle("main.ts", simulator.#program, mutant);
    return simulator;
  }

  get #program(): string {
    return join(this.#folder, "simulator.mjs");
  }

  async run(...args: string[]): Promise<Outcome> {
    const {
      exitCode = -1,
      stdout,
      stderr,
    } = await execa(process.execPath, [this.#program, ...args], { reject: false });
    return { code: exitCode, stdout: `${stdout}${stderr}` };
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true });
  }
}
