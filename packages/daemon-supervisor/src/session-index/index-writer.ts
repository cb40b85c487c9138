import { mayBeInPlace, openLineLog, replaceFile, replaceFileAsync } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import type { FoundIndex } from "./read-index.ts";
import { indexPath } from "../home.ts";
import { HEAD_LINE, encodeRow } from "./row.ts";
import type { IndexRow } from "./row.ts";

/** Lines that may be superseded before a small home's index is written anew; some 2 MB. */
const SPARE_LINES = 4_096;

interface IndexParts {
  readonly fs: FileSystem;
  readonly home: string;
  /** What the index is to say, as the caller goes on to change it. */
  readonly entries: ReadonlyMap<string, { readonly row: IndexRow }>;
}

/**
 * Keeps the index of a home's owner. Nothing waits for it and nothing fails with it, and no line is synced: each says of which files
 * it was written, so that one that is missing, or came too late, costs the next start a look at that session's record (I168).
 */
export class IndexWriter {
  readonly #parts: IndexParts;
  readonly #path: string;
  #lines: number;
  #state: "appending" | "rewriting" | "given_up" = "appending";
  /** Rows that no line says yet. */
  readonly #owed = new Map<string, IndexRow>();

  /** `missing`: rows that the index that was found does not say. */
  constructor(parts: IndexParts, found: FoundIndex, missing: readonly IndexRow[]) {
    this.#parts = parts;
    this.#path = indexPath(parts.home);
    this.#lines = found.lines;
    for (const row of missing) this.#owed.set(row.sessionId, row);
    const isNew = found.kind === "missing" && parts.entries.size > 0;
    if (isNew || found.kind === "unsound" || this.#isOutgrown()) this.#rewriteNow();
    else if (missing.length > 0) this.#append();
  }

  put(row: IndexRow): void {
    if (this.#state === "given_up") return;
    this.#owed.set(row.sessionId, row);
    if (this.#state === "appending") this.#append();
  }

  #append(): void {
    try {
      // Opened for each change: one that somebody removed is begun anew, and a torn line is cut off.
      const log = openLineLog({ path: this.#path, fs: this.#parts.fs });
      try {
        if (log.size === 0) log.append(HEAD_LINE);
        for (const [sessionId, row] of this.#owed) {
          log.append(encodeRow(row));
          this.#lines += 1;
          this.#owed.delete(sessionId);
        }
      } finally {
        log.close();
      }
    } catch {
      // A full disk, say. What is owed goes with the next change, or is found by the next start.
    }
    if (this.#isOutgrown()) void this.#rewrite();
  }

  #isOutgrown(): boolean {
    const { size } = this.#parts.entries;
    return this.#lines - size > size + SPARE_LINES;
  }

  #text(): string {
    const lines = [HEAD_LINE, ...[...this.#parts.entries.values()].map(({ row }) => encodeRow(row))];
    this.#lines = lines.length - 1;
    this.#owed.clear();
    return `${lines.join("\n")}\n`;
  }

  /** At a start, which serves nobody yet. */
  #rewriteNow(): void {
    try {
      replaceFile(this.#parts.fs, this.#path, this.#text());
    } catch (error) {
      // One that cannot be replaced is left to the next start: lines behind its damage would not count.
      if (!mayBeInPlace(error)) this.#state = "given_up";
    }
  }

  /** Never rejects. Whatever name the index has then, old or new, what was owed meanwhile follows in it. */
  async #rewrite(): Promise<void> {
    this.#state = "rewriting";
    try {
      await replaceFileAsync(this.#parts.fs, this.#path, this.#text());
    } catch {
      // The old one goes on, and is tried again when as much was added to it once more.
    }
    this.#state = "appending";
    if (this.#owed.size > 0) this.#append();
  }
}
