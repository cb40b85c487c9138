import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export interface Programs {
  readonly supervisor: string;
  readonly worker: string;
}

/** The two other programs lie beside this one; when it runs from source, where the build puts them. */
export function programs(): Programs {
  const here = dirname(fileURLToPath(import.meta.url));
  const directory = basename(here) === "src" ? join(here, "../dist/bin") : here;
  return { supervisor: join(directory, "supervisor.js"), worker: join(directory, "worker.js") };
}
