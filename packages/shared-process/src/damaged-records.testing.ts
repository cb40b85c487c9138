import type { ProcessIdentity } from "./types.ts";

/** What a damaged file may give in place of a record; typed as one, as it is once it was parsed and believed. */
export function damagedRecords(record: ProcessIdentity): readonly ProcessIdentity[] {
  const lacking = Object.keys(record).map((name) => ({ ...record, [name]: undefined }));
  const wrong = Object.keys(record).flatMap((name) =>
    [{}, [], true, 1.5, -1].map((value) => ({ ...record, [name]: value })),
  );
  const values: readonly unknown[] = [
    null,
    undefined,
    "",
    7,
    [],
    {},
    ...lacking,
    ...wrong,
    ...["machineId", "bootId", "pidNamespace", "timeNamespace"].map((name) => ({ ...record, [name]: "" })),
    ...["12345", 0, Number.NaN, 2 ** 31].map((pid) => ({ ...record, pid })),
    ...["", "0x1", "-1", " 1"].map((startTicks) => ({ ...record, startTicks })),
  ];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a record that was read is believed just like this
  return values as readonly ProcessIdentity[];
}
