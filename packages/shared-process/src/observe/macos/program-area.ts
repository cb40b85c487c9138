/**
 * The environment in what `KERN_PROCARGS2` gives: `argc` as an int, the path of the program, NULs, `argc` arguments, the
 * entries, and a NUL at their end. Latin-1 text with a NUL before and after each entry; `\0` where there are none.
 */
export function environmentIn(area: Buffer): string {
  if (area.length < 4) return "\0";
  const text = area.toString("latin1", 4);
  const path = text.indexOf("\0");
  let at = path < 0 ? text.length : path;
  while (text[at] === "\0") at += 1;
  // An empty first argument is taken for padding: then one entry too many is skipped, and no argument taken for one.
  for (let left = area.readInt32LE(0); left > 0 && at < text.length; left -= 1) at = after(text, at);
  const end = text.startsWith("\0", at) ? at : text.indexOf("\0\0", at);
  return `\0${text.slice(at, end < 0 ? text.length : end)}\0`;
}

function after(text: string, at: number): number {
  const end = text.indexOf("\0", at);
  return end < 0 ? text.length : end + 1;
}
