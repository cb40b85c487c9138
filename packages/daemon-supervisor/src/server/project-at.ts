import { resolve } from "node:path";
import { ProtocolError } from "@holdfast/client/protocol";
import { canonicalDirectory, projectOf } from "@holdfast/project-trust";

/**
 * The top level of the git work tree that holds `cwd`, else that directory itself, by its exact path, whatever way led
 * there (DESIGN §8). Where no exact path can be told, by that of the spelling: through a link it is none that anybody
 * could trust.
 */
export function projectAt(cwd: string): string {
  const found = canonicalDirectory(cwd);
  const project = projectOf(found.kind === "canonical" ? found.identity.directory : resolve(cwd));
  if (project.kind === "project") return project.directory;
  throw new ProtocolError("unsafe_directory", `nobody can tell which project ${cwd} belongs to: ${project.detail}`, {
    hint: "use --cwd with another directory",
  });
}
