// Loaded into one of Holdfast's own programs before it begins, which then logs like innocent.sh. It is as innocent: no
// record names it.
const { spawn } = require("node:child_process");
const { appendFileSync } = require("node:fs");
const { constants } = require("node:os");
const { join } = require("node:path");

const { INNOCENT_LOG: log, INNOCENT_TITLE: title, PATH } = process.env;
const uncaught = ["SIGKILL", "SIGSTOP", "SIGCHLD"];
for (const [name, number] of Object.entries(constants.signals))
  if (!uncaught.includes(name)) process.on(name, () => appendFileSync(log, `${number}\n`));
if (title) process.title = title;
const member = ["--noprofile", "--norc", join(__dirname, "innocent.sh"), `${log}.member`, "member"];
const child = spawn("bash", member, { env: { PATH }, stdio: "ignore" });
child.on("exit", () => appendFileSync(log, "its child ended\n"));
appendFileSync(log, `ready ${process.pid}\n`);
