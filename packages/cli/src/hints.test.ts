import { ProtocolError } from "@holdfast/client/protocol";
import { expect, it } from "vitest";
import { withHint } from "./hints.ts";

const typed = { command: "agent ls", session: null };

it("what this user may not read leads to who tells what it is, unless the error knows better", () => {
  const denied = new ProtocolError("permission_denied", "EACCES: permission denied, scandir '/h/workers'");
  expect(withHint(denied, typed).hint).toMatch(/^agent doctor/);
  expect(withHint(new ProtocolError("permission_denied", "no", { hint: "ask" }), typed).hint).toBe("ask");
});
