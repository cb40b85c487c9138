import { chmodSync, cpSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const golden = fileURLToPath(new URL("../../recovery-journal/golden/", import.meta.url));

export const goldenNames = ["v1", "v2"].flatMap((version) =>
  readdirSync(golden + version).map((name) => `${version}/${name}`),
);

interface Verdict {
  readonly kind: string;
  readonly why?: string;
  readonly path?: string;
  readonly offset?: number;
  readonly tornBytes?: number;
  readonly uncertainTail?: boolean;
  readonly open: readonly { readonly operationId: string | null }[];
  readonly quarantines?: readonly object[];
}

export interface GoldenJournal {
  readonly directory: string;
  /** Where the command has to look. */
  readonly path: string;
  readonly code: 0 | 7;
  /** What `verify` and `show` have to say of it; what is open only `show`. */
  readonly verdict: object;
  readonly open: object;
}

/** A copy of a golden journal in a folder, with the modes that a journal has. */
export function copyGolden(name: string, folder: string): GoldenJournal {
  const directory = join(folder, name);
  cpSync(join(golden, name), directory, { recursive: true });
  chmodSync(directory, 0o700);
  for (const file of readdirSync(directory)) chmodSync(join(directory, file), 0o600);
  const verdict: Verdict = JSON.parse(readFileSync(join(directory, "verdict.json"), "utf8"));
  const path = name.startsWith("v1/") ? join(directory, "activity.jsonl") : directory;
  return { directory, path, ...expectedOf(directory, verdict) };
}

function expectedOf(directory: string, found: Verdict): Pick<GoldenJournal, "code" | "verdict" | "open"> {
  const { kind, why, path = "", offset, tornBytes, uncertainTail, quarantines = [] } = found;
  if (kind === "refused")
    return { code: 7, verdict: { verdict: kind, reason: why, file: join(directory, path), offset }, open: {} };
  const tail = tornBytes === undefined ? { uncertainTail } : { tornBytes };
  const isQuarantined = quarantines.length > 0;
  const open = found.open.map(({ operationId }) => ({ operationId }));
  return {
    code: isQuarantined ? 7 : 0,
    verdict: { verdict: isQuarantined ? "quarantined" : "ok", ...tail },
    open: { open },
  };
}

/** Names, sizes, times and contents of a directory: anything written would change one. */
export const everything = (directory: string): unknown =>
  readdirSync(directory).map((name) => {
    const path = join(directory, name);
    const { mtimeMs, ctimeMs, mode } = statSync(path);
    return [name, mode, mtimeMs, ctimeMs, readFileSync(path, "latin1")];
  });
