import { systemIo } from "./io.ts";
import { run } from "./run.ts";

process.on("uncaughtException", (error) => {
  // A bug. Its text is for the report; a stack trace would only hide it from the person who reads this (I151).
  process.stderr.write(`error: internal: ${error.message}\n`, () => process.exit(1));
});

process.on("beforeExit", () => {
  // Nothing is left that could end the command: a bug, too, and no success (I151).
  process.stderr.write("error: internal: the command came to no end\n", () => process.exit(1));
});

// Exits by itself once everything has left: what a command might leave open must not keep a shell waiting (I151).
// Not by top-level await, which CommonJS does not have (bundle.mjs).
void run(process.argv.slice(2), systemIo()).then((code) => process.exit(code));
