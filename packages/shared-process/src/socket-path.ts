/** `sun_path` has 108 bytes with its NUL. Node truncates longer paths silently and binds somewhere else. */
export const SOCKET_PATH_MAX_BYTES = 107;

export function socketPathFits(path: string): boolean {
  return path !== "" && Buffer.byteLength(path, "utf8") <= SOCKET_PATH_MAX_BYTES;
}
