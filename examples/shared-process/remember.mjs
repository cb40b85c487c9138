// `node remember.mjs start`, and later, from any other program: `node remember.mjs stop`.
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createObserver } from "@holdfast/shared-process";

const [verb, option] = process.argv.slice(2);
const observer = createObserver({ mode: option === "--narrow" ? "narrow" : "refuse" });
const { backend, reason } = observer.capabilities();
console.log(reason === null ? backend : `${backend}: ${reason}`);

if (verb === "start") {
  const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
  child.unref();
  // In the turn of the spawn the number is certainly the child's.
  const seen = observer.identify(child.pid);
  if (seen.kind !== "identified") throw new Error(`nothing to remember: ${seen.why}`);
  writeFileSync("process.json", JSON.stringify(seen.identity));
} else {
  const identity = JSON.parse(readFileSync("process.json", "utf8"));
  console.log(observer.verdict(identity)); // current, replaced, gone or unknown
  const opened = observer.open(identity);
  if (opened.kind === "opened") await stop(opened.handle);
}

async function stop(handle) {
  const outcome = handle.signal("SIGTERM");
  console.log(outcome); // sent, not-sent or denied
  if (outcome.kind === "sent") {
    // Waiting for an end keeps no program alive by itself.
    const patience = setTimeout(() => process.exit(1), 10_000);
    console.log((await handle.exited).status);
    clearTimeout(patience);
  }
  handle[Symbol.dispose]();
}
