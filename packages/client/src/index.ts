export { createClient } from "./client.ts";
export type { CallOptions, Client, ClientOptions } from "./client.ts";
export type { AttachOptions } from "./attach.ts";
export type { OwnerLiveness } from "./connector.ts";
export { findOwner } from "./find-owner.ts";
export type { FoundOwner } from "./find-owner.ts";
export type { Timeouts } from "./patience.ts";
export { probeDaemon } from "./probe.ts";
export * from "./protocol/index.ts";
