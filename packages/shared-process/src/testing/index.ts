export { FakeCgroups } from "./fake-cgroups.ts";
export { FakeClock } from "./fake-clock.ts";
export type { FakeProcess } from "./fake-process.ts";
export { FakeProcessTable } from "./fake-process-table.ts";
export { FakePidfds } from "./fake-pidfds.ts";
