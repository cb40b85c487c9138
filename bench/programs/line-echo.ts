import { createServer } from "node:net";

/** Answers each line on the socket of its first argument with a line of as many bytes as its second says. */
const [path = "", size = "0"] = process.argv.slice(2);
const answer = `${JSON.stringify({ text: "x".repeat(Number(size)) })}\n`;

createServer((socket) => {
  // The one that asks may go away at any time.
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk: Buffer) => {
    for (const byte of chunk) if (byte === 0x0a) socket.write(answer);
  });
}).listen(path, () => process.stdout.write("listening\n"));
