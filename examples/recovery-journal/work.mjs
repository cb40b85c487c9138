// `node work.mjs 60` begins work that takes a minute. End it with `kill -9`, and run it again: it says what was open.
import { openJournal } from "@holdfast/recovery-journal";

const generation = crypto.randomUUID();
const opened = await openJournal({
  directory: "journal",
  owner: { generation, identity: { pid: process.pid } },
  kinds: ["copy"],
  probeOwner: ({ identity }) => (isFree(identity.pid) ? "gone" : "unknown"),
});
if (opened.kind !== "opened") {
  console.log(opened); // owned, or refused with the path and offset of the damage
  process.exit(1);
}
const { journal } = opened;

// Nobody knows how far these came: say so, and settle them. None is ever done again by itself.
for (const operation of journal.open()) {
  console.log("interrupted:", operation.operationId, operation.notes);
  await journal.end(journal.adopt(operation), { kind: "interrupted" });
}

const operationId = `copy-${process.pid}`;
const token = await journal.begin({ operationId, generation, kind: "copy" });
// It is on disk: only now start the work.
await journal.note(token, { step: "started" });
console.log("started:", operationId);
await new Promise((resolve) => setTimeout(resolve, Number(process.argv[2] ?? 0) * 1000));
await journal.end(token, { kind: "completed" });
console.log("completed:", operationId);
await journal.close();

/** A number that somebody has, even if it is another process by now, keeps the journal closed: too careful is safe. */
function isFree(pid) {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error.code === "ESRCH";
  }
}
