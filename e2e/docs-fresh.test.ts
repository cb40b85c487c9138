import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { docsAreFresh } from "../scripts/docs.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

it("keeps the generated pages in step with the tables they are made from", () => {
  expect(docsAreFresh()).toEqual([]);
});

/** Its own files, without what a build or an installation has put beside them. */
const pages = execFileSync("git", ["ls-files", "-z", "*.md"], { cwd: root, encoding: "utf8" })
  .split("\0")
  .filter((path) => path !== "" && existsSync(join(root, path)));

/** Where the links of a page lead, as far as they lead to files; not what stands in code. */
function linksOf(page: string): readonly string[] {
  const text = readFileSync(join(root, page), "utf8").replaceAll(/^```[^]*?^```|`[^`\n]*`/gm, "");
  return [...text.matchAll(/\]\(([^)\s#]+)(?:#[^)\s]*)?\)/g)].flatMap(([, target = ""]) =>
    /^[a-z]+:/.test(target) ? [] : [target],
  );
}

it("every link to a file leads to one", () => {
  const links = pages.flatMap((page) => linksOf(page).map((target) => ({ page, target })));
  expect(links.length).toBeGreaterThan(100);
  expect(links.filter(({ page, target }) => !existsSync(join(root, dirname(page), target)))).toEqual([]);
});
