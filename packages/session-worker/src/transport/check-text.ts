import { MAX_LINE_BYTES, MAX_QUEUED_TEXT_BYTES, ProtocolError } from "@holdfast/client/protocol";

/** Room for the other members of a text's event in its line. */
const LINE_ROOM_BYTES = 4 * 1024;

/** Refuses a text before it costs anything. Throws `ProtocolError`. */
export function checkText(text: string, queued: readonly { readonly text: string }[]): void {
  if (text.includes("\0")) throw new ProtocolError("usage", "a text with a NUL character cannot be run");
  if (Buffer.byteLength(JSON.stringify(text)) > MAX_LINE_BYTES - LINE_ROOM_BYTES)
    throw new ProtocolError("usage", "the text is too long for one line");
  const bytes = queued.reduce((sum, action) => sum + Buffer.byteLength(action.text), Buffer.byteLength(text));
  if (queued.length > 0 && bytes > MAX_QUEUED_TEXT_BYTES)
    throw new ProtocolError("capacity", "too much text is queued already");
}
