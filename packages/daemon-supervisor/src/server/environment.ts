import { ProtocolError } from "@holdfast/client/protocol";

type Environment = Readonly<Record<string, string>>;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** What a client may set. Names of the allow-list are filtered elsewhere; names given by hand must be some that a shell can hold. */
export function checkEnvironment(environment: Environment, byHand: Environment = {}): void {
  for (const [name, value] of Object.entries({ ...environment, ...byHand }))
    if (value.includes("\0")) throw refused(name, "a value with a NUL");
  // The marker and the home are Holdfast's own words (I153).
  for (const name of Object.keys(byHand)) {
    if (!NAME.test(name)) throw refused(name, "not a name of a variable");
    if (name.startsWith("HOLDFAST_")) throw refused(name, "a name of Holdfast's own");
  }
}

const refused = (name: string, why: string): ProtocolError =>
  new ProtocolError("usage", `${JSON.stringify(name)} cannot be set in a session: ${why}`);
