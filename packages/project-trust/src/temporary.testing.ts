import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A directory by its canonical path, which is removed when the test ends. */
export class Temporary implements Disposable {
  readonly path = mkdtempSync(join(realpathSync(tmpdir()), "holdfast-trust-"));

  at(...names: readonly string[]): string {
    return join(this.path, ...names);
  }

  directory(...names: readonly string[]): string {
    const path = this.at(...names);
    mkdirSync(path, { recursive: true });
    return path;
  }

  file(name: string, content: string | Uint8Array = name): string {
    const path = this.at(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
