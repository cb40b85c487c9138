import { createRequire } from "node:module";
import { join } from "node:path";
import type { DurableStore } from "./durable-files.ts";

const DONE = 101;
/** The statement copies nothing: the line lives as long as the store. */
const STATIC = 0;
const WHOLE = -1;

interface Foreign {
  load(name: string): { func(prototype: string): (...args: readonly unknown[]) => unknown };
}

/** A table in WAL mode, a transaction with a full sync for each row, by the system's library; `null` where there is none. */
export function sqliteTable(root: string, bytes: number): DurableStore | null {
  let library: ReturnType<Foreign["load"]>;
  try {
    const koffi: Foreign = createRequire(new URL("../../packages/shared-process/package.json", import.meta.url))(
      "koffi",
    );
    library = koffi.load("libsqlite3.so.0");
  } catch {
    // No library, or nothing to call it with: a comparison less, and its rows' note says so.
    return null;
  }
  const open = library.func("int sqlite3_open(const char *path, _Out_ void **database)");
  const exec = library.func("int sqlite3_exec(void *database, const char *text, void *call, void *arg, void *error)");
  const prepare = library.func(
    "int sqlite3_prepare_v2(void *database, const char *text, int bytes, _Out_ void **statement, void *tail)",
  );
  const bind = library.func("int sqlite3_bind_blob(void *statement, int index, void *blob, int bytes, intptr_t free)");
  const step = library.func("int sqlite3_step(void *statement)");
  const reset = library.func("int sqlite3_reset(void *statement)");
  const finalize = library.func("int sqlite3_finalize(void *statement)");
  const close = library.func("int sqlite3_close(void *database)");

  const [database, statement]: [[unknown], [unknown]] = [[null], [null]];
  expectCode(0, open(join(root, "sqlite.db"), database));
  const setUp = "pragma journal_mode=WAL; pragma synchronous=FULL; create table records (line blob)";
  expectCode(0, exec(database[0], setUp, null, null, null));
  expectCode(0, prepare(database[0], "insert into records values (?)", WHOLE, statement, null));
  const line = Buffer.alloc(bytes, "x");
  expectCode(0, bind(statement[0], 1, line, bytes, STATIC));
  return {
    append: () => {
      expectCode(DONE, step(statement[0]));
      expectCode(0, reset(statement[0]));
    },
    [Symbol.dispose]: () => {
      finalize(statement[0]);
      close(database[0]);
    },
  };
}

function expectCode(expected: number, code: unknown): void {
  if (code !== expected) throw new Error(`SQLite answered ${String(code)}`);
}
