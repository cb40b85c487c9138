import { expect, it } from "vitest";
import { ownEnvironment, sessionEnvironment } from "./environment.ts";
import { socketPathFits } from "./socket-path.ts";

const client = {
  HOME: "/home/a",
  PATH: "/bin",
  SHELL: "/bin/sh",
  USER: "a",
  LOGNAME: "a",
  LANG: "C",
  LC_ALL: "C",
  TZ: "UTC",
  TERM: "dumb",
  TMPDIR: "/tmp",
  XDG_STATE_HOME: "/s",
};
const sessionOnly = {
  SSL_CERT_FILE: "/c",
  NODE_EXTRA_CA_CERTS: "/ca",
  npm_config_cache: "/n",
};
const refused = {
  NODE_OPTIONS: "--inspect",
  HOLDFAST_SESSION: "m",
  ANTHROPIC_API_KEY: "s",
  LD_PRELOAD: "x",
  npm_config__authToken: "s",
  "npm_config_//registry.example/:_password": "s",
  npm_config_keyfile: "s",
  npm_config__auth: "s",
  HOMER: "x",
  LCX: "x",
  UNSET: undefined,
};

it("takes exactly the listed names for a session, npm's secrets excepted", () => {
  expect(sessionEnvironment({ ...client, ...sessionOnly, ...refused })).toEqual({ ...client, ...sessionOnly });
});

it("I131 builds our own environment from an allow-list, and no extra value smuggles in the marker", () => {
  const extra = { HOLDFAST_HOME: "/h", PATH: "/usr/bin", HOLDFAST_SESSION: "m", NODE_OPTIONS: "-r x" };
  expect(ownEnvironment({ ...client, ...sessionOnly, ...refused }, extra)).toEqual({
    ...client,
    PATH: "/usr/bin",
    HOLDFAST_HOME: "/h",
  });
});

it("counts the bytes of a socket path, not its letters", () => {
  expect([107, 108].map((length) => socketPathFits("a".repeat(length)))).toEqual([true, false]);
  expect([53, 54].map((length) => socketPathFits("ä".repeat(length)))).toEqual([true, false]);
  expect(socketPathFits("")).toBe(false);
});
