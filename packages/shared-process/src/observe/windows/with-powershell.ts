import type { ProcessPorts } from "../../ports.ts";
import type { Run } from "../run.ts";
import { isAbsent } from "../system-look.ts";
import { COMMON_CAPABILITIES, createHostMemory, type System, systemError, UNHELD } from "../system.ts";
import { comparable, isWindowsPid, refuseOtherSignals } from "./identity.ts";

/** A PowerShell takes about half a second, in which the caller stands still: below one part in a hundred. */
const LOOK_INTERVAL_MS = 60_000;

/** Prints an error's name in place of the answer. ArgumentException: nothing has the number. */
const NAME_ERROR = [
  "$e=$_.Exception.GetBaseException()",
  "if($e -is [ArgumentException] -or $e -is [InvalidOperationException]){'ESRCH'}",
  "elseif($e -is [ComponentModel.Win32Exception] -and $e.NativeErrorCode -eq 5){'EPERM'}else{'EIO'}",
].join(";");

/** Windows without the library: each look and each kill is a PowerShell. Without quotes that a shell could misread. */
export function createPowershellSystem(ports: ProcessPorts, run: Run, reason: string | null): System {
  // By their full path: Windows looks for bare names in the current directory first.
  const folder = `${process.env["SystemRoot"] ?? "C:\\Windows"}\\System32`;
  const host = createHostMemory(
    () =>
      run(`${folder}\\reg.exe`, ["query", "HKLM\\SOFTWARE\\Microsoft\\Cryptography", "/v", "MachineGuid", "/reg:64"]),
    "none",
  );
  const ask = (pid: number, question: string): string => {
    const script = `$ErrorActionPreference='Stop';try{$p=[Diagnostics.Process]::GetProcessById(${pid});${question}}catch{${NAME_ERROR}}`;
    const powershell = `${folder}\\WindowsPowerShell\\v1.0\\powershell.exe`;
    const answer = run(powershell, ["-NoProfile", "-NonInteractive", "-Command", script]).trim();
    if (/^E[A-Z]+$/.test(answer)) throw systemError(answer, "powershell");
    return answer;
  };
  return {
    capabilities: {
      ...COMMON_CAPABILITIES,
      backend: "windows-narrow",
      reason,
      kernelIds: false,
      boundSignals: true,
      exitStatus: false,
    },
    via: "process-object",
    host,
    comparable,
    environmentOf: null,
    lookIntervalMs: LOOK_INTERVAL_MS,
    look: (pid) => {
      if (!isWindowsPid(pid)) return null;
      if (isAbsent(ports, pid)) throw systemError("ESRCH", "kill");
      const [, created, state] =
        /^(\d+) (runs|ended)$/.exec(
          ask(pid, "'{0} {1}' -f $p.StartTime.ToFileTimeUtc(),$(if($p.HasExited){'ended'}else{'runs'})"),
        ) ?? [];
      if (created === undefined) return null;
      return {
        ...UNHELD,
        identity: { ...host(), pid, startTicks: created, pidfsInode: null },
        isDefunct: state === "ended",
        group: null,
        parent: null,
        signal: (signal) => {
          refuseOtherSignals(signal);
          kill(ask, pid, created);
        },
      };
    },
  };
}

/** Once asked for its handle, the object compares and kills by that handle alone. */
function kill(ask: (pid: number, question: string) => string, pid: number, created: string): void {
  const question = `$null=$p.Handle;if($p.StartTime.ToFileTimeUtc() -ne ${created}){'ESRCH'}else{$p.Kill();'killed'}`;
  if (ask(pid, question) !== "killed") throw systemError("EIO", "powershell");
}
