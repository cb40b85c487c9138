export type Environment = Readonly<Record<string, string>>;

const COMMON_NAMES = new Set(["HOME", "PATH", "SHELL", "USER", "LOGNAME", "LANG", "TZ", "TERM", "TMPDIR"]);
const COMMON_PREFIXES = ["LC_", "XDG_"];
/** They would change how Holdfast's own programs run or trust, or make the sweep of a session hit them (I131). */
const NEVER_OWN = new Set(["NODE_EXTRA_CA_CERTS", "NODE_OPTIONS", "HOLDFAST_SESSION"]);
const SECRET_NAME = /auth|token|password|key/i;

const isCommon = (name: string): boolean =>
  COMMON_NAMES.has(name) || COMMON_PREFIXES.some((prefix) => name.startsWith(prefix));

/**
 * The environment of a session that is taken from the client, without the marker. Secrets in names npm reads are left
 * out.
 */
export function sessionEnvironment(source: NodeJS.ProcessEnv): Record<string, string> {
  return select(source, (name) => {
    if (name.startsWith("npm_config_")) return !SECRET_NAME.test(name);
    return isCommon(name) || name.startsWith("SSL_CERT_") || name === "NODE_EXTRA_CA_CERTS";
  });
}

/** The environment of Holdfast's own processes: an allow-list of `source`, then `extra`. */
export function ownEnvironment(source: NodeJS.ProcessEnv, extra: Environment = {}): Record<string, string> {
  return select({ ...select(source, isCommon), ...extra }, (name) => !NEVER_OWN.has(name));
}

function select(source: NodeJS.ProcessEnv, allowed: (name: string) => boolean): Record<string, string> {
  const entries = Object.entries(source).filter((entry): entry is [string, string] => {
    const [name, value] = entry;
    return value !== undefined && allowed(name);
  });
  return Object.fromEntries(entries);
}
