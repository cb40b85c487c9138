import { expect, it } from "vitest";
import { docsAreFresh } from "../scripts/docs.ts";

it("keeps the generated pages in step with the tables they are made from", () => {
  expect(docsAreFresh()).toEqual([]);
});
