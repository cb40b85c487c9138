import { isObject } from "@holdfast/client/protocol";

const levels: Readonly<Record<string, string>> = {
  10: "trace",
  20: "debug",
  30: "info",
  40: "warn",
  50: "error",
  60: "fatal",
};

/** One line of the daemon's log as people read it: time, level, message, then the other fields. What is no such line stays as it is. */
export function readableLine(line: string): string {
  let entry: unknown;
  try {
    entry = JSON.parse(line);
  } catch {
    // Another program's words, or a line that was cut: shown rather than lost.
    return line;
  }
  if (!isObject(entry)) return line;
  const { time, level, msg, pid: _ours, ...fields } = entry;
  const more = Object.entries(fields).map(([name, value]) => `${name}=${fieldText(value)}`);
  return [fieldText(time), (levels[String(level)] ?? String(level)).padEnd(5), fieldText(msg), ...more].join(" ");
}

function fieldText(value: unknown): string {
  if (typeof value === "string") return value;
  if (isObject(value) && typeof value["message"] === "string") return value["message"];
  return JSON.stringify(value) ?? "-";
}

/** Makes whole lines of pieces; the rest waits for its newline. */
export function lineByLine(show: (line: string) => string): (piece: Uint8Array) => string {
  const decoder = new TextDecoder();
  let rest = "";
  return (piece) => {
    const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    return lines.map((line) => `${show(line)}\n`).join("");
  };
}
