/** What can be seen of a file without reading it. */
export interface Seen {
  readonly kind: "directory" | "file" | "symlink" | "other";
  readonly device: bigint;
  readonly inode: bigint;
  /** 0 where the file system does not record it. */
  readonly birthTimeNs: bigint;
  readonly size: bigint;
}

/**
 * The calls by which directories are reached and read: the seam where tests let them fail, and swap what they reach in
 * between. All are synchronous; errors are Node's own (`error.code` is the errno name).
 */
export interface DirectoryCalls {
  /** Descriptors are closed on exec. */
  open(path: string, flags: number): number;
  close(descriptor: number): void;
  fstat(descriptor: number): Seen;
  /** `null` when there is no such name. */
  lstat(path: string): Seen | null;
  /** Bytes read; `position` is absolute. */
  read(descriptor: number, buffer: Uint8Array, position: number): number;
  /** The names in a directory in its own order, without `.` and `..`; one character for each byte (latin1). */
  names(path: string): Iterable<string>;
  /** The id of the mount that an open file is on, decimal. */
  mountOf(descriptor: number): string;
  /** Whether `/proc` is a proc file system, so that `/proc/self/fd/N/name` is `name` in the directory open as `N`. */
  hasProc(): boolean;
  /** As realpath(3); relative to the current directory. */
  realpath(path: string): string;
}
