import { PROTOCOL_VERSION, SCHEMA_REVISION, VERSION } from "@holdfast/client/protocol";
import type { Command } from "commander";
import { examples } from "../help.ts";
import type { Invocation } from "../invocation.ts";

export function addVersion(command: Command, invocation: Invocation): void {
  examples(command, "agent version", "agent version --json");
  command.description("versions of this program, and what it can prove about processes here");
  invocation.handle(command, async (context) => {
    const { createObserver } = await import("@holdfast/shared-process");
    const { backend } = createObserver().capabilities();
    const value = {
      version: VERSION,
      protocol: PROTOCOL_VERSION,
      schemaRevision: SCHEMA_REVISION,
      node: process.version,
      platform: `${process.platform}-${process.arch}`,
      backend,
    };
    await context.answer(value, () =>
      [
        `holdfast ${VERSION}`,
        `protocol ${PROTOCOL_VERSION}, schema revision ${SCHEMA_REVISION}`,
        `node ${process.version} on ${value.platform}, processes by ${backend}`,
      ].join("\n"),
    );
  });
}
