import { describe, expect, it } from "vitest";
import { requestHash } from "./request-hash.ts";

describe("the hash of a request", () => {
  it("is the same for the same content in another order and differs for other content", () => {
    expect(requestHash("m", { a: 1, b: [{ c: "x", d: undefined }] })).toBe(requestHash("m", { b: [{ c: "x" }], a: 1 }));
    expect(requestHash("m", { a: 1 })).not.toBe(requestHash("n", { a: 1 }));
    expect(requestHash("m", { a: "1" })).not.toBe(requestHash("m", { a: 1 }));
  });
});
