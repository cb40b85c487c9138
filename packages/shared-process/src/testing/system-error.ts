/** A failed call on the made-up machine, in the shape of Node's own errors. */
export function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}
