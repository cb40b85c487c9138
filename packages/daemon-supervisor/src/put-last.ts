/** Puts an entry behind all others of a bounded map, and lets the first go where there are more than `most`. */
export function putLast<V>(map: Map<string, V>, [key, value]: readonly [string, V], most: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}
