/** A place in a transcript: the sequence grows over the whole file, the generation says who wrote it (I170). */
export interface Cursor {
  readonly generation: string;
  readonly sequence: number;
}

/** What a line says before its JSON is parsed: `cursor` and `type` are always its first keys. */
export interface LineHead extends Cursor {
  readonly type: string;
}

const CURSOR = /^([0-9A-Za-z_-]{1,64}):([1-9]\d{0,14})$/;
const HEAD = /^\{"cursor":"([0-9A-Za-z_-]{1,64}):([1-9]\d{0,14})","type":"([a-z_]{1,64})"[,}]/;
const HEAD_CHARACTERS = 200;

export const formatCursor = ({ generation, sequence }: Cursor): string => `${generation}:${sequence}`;

export function parseCursor(text: string): Cursor | null {
  const [, generation, sequence] = CURSOR.exec(text) ?? [];
  return generation === undefined ? null : { generation, sequence: Number(sequence) };
}

/** `null` for a damaged line. Reads the line's first characters alone, so a search touches no more of a long one. */
export function readHead(line: string): LineHead | null {
  const [, generation, sequence, type] = HEAD.exec(line.slice(0, HEAD_CHARACTERS)) ?? [];
  return generation === undefined || type === undefined ? null : { generation, sequence: Number(sequence), type };
}
