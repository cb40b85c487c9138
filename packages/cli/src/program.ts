import { VERSION } from "@holdfast/client/protocol";
import { Command } from "commander";
import { addDaemon } from "./commands/daemon.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addAttach } from "./commands/attach.ts";
import { addJournal } from "./commands/journal.ts";
import { addLifecycle } from "./commands/lifecycle.ts";
import { addList } from "./commands/list.ts";
import { addLogs } from "./commands/logs.ts";
import { addNew } from "./commands/new.ts";
import { addPrompt } from "./commands/prompt.ts";
import { addPs } from "./commands/ps.ts";
import { addResume } from "./commands/resume.ts";
import { addShow } from "./commands/show.ts";
import { addSteering } from "./commands/steering.ts";
import { addArchive, addStop } from "./commands/stop.ts";
import { addTranscript } from "./commands/transcript.ts";
import { addTree } from "./commands/tree.ts";
import { addTrust } from "./commands/trust.ts";
import { addVersion } from "./commands/version.ts";
import { addWait } from "./commands/wait.ts";
import { addHelp, examples } from "./help.ts";
import type { Invocation } from "./invocation.ts";

/** All commands. The options of the root are taken before and after a command's name. */
export function buildProgram(invocation: Invocation): Command {
  const program = new Command("agent")
    .description("Sessions of coding agents that outlive terminals, editors and crashes.")
    .option("--home <dir>", "state directory ($HOLDFAST_HOME)")
    .option("--json", "answers and errors as JSON")
    .option("--no-autostart", "do not start a daemon")
    .option("--request-id <id>", "a mutation's id: a repeat under it takes effect once")
    .version(VERSION, "--version", "print the version")
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void (invocation.help += text),
      writeErr: (text) => void (invocation.help += text),
      outputError: () => {},
    })
    .showSuggestionAfterError(false);
  examples(
    program,
    "agent new --name build            a session in this directory",
    "agent prompt build 'make test'    run a command there, see its output",
    "agent attach build                watch it; Ctrl-\\ leaves",
    "agent ls                          all sessions",
    "agent stop build                  end it for certain",
    "agent help session prompt         what a command takes",
  );
  addDaemon(program.command("daemon"), invocation);
  addPs(program.command("ps"), invocation);
  const session = examples(
    program.command("session").description("sessions"),
    "agent session list",
    "agent help session prompt",
  );
  addNew(session.command("new"), invocation);
  addList(session.command("list").alias("ls"), invocation);
  addShow(session.command("show"), invocation);
  addPrompt(session.command("prompt"), invocation);
  addSteering(session, invocation);
  addAttach(session.command("attach"), invocation);
  addTranscript(session.command("transcript"), invocation);
  addLogs(session.command("logs"), invocation);
  addTree(session.command("tree"), invocation);
  addWait(session.command("wait"), invocation);
  addStop(session.command("stop"), invocation);
  addArchive(session.command("archive"), invocation);
  addResume(session.command("resume"), invocation);
  addLifecycle(session, invocation);
  addNew(program.command("new"), invocation);
  addList(program.command("ls"), invocation);
  addAttach(program.command("attach"), invocation);
  addPrompt(program.command("prompt"), invocation);
  addLogs(program.command("logs"), invocation);
  addWait(program.command("wait"), invocation);
  addStop(program.command("stop"), invocation);
  addJournal(program.command("journal"), invocation);
  addTrust(program.command("trust"), invocation);
  addDoctor(program.command("doctor"), invocation);
  addVersion(program.command("version"), invocation);
  for (const group of [program, session]) addHelp(group);
  nameRefused(program, invocation);
  return program;
}

/** Commander's errors do not say which command they are about. */
function nameRefused(command: Command, invocation: Invocation): void {
  command.exitOverride((error) => {
    invocation.refused = command;
    throw error;
  });
  for (const below of command.commands) nameRefused(below, invocation);
}
