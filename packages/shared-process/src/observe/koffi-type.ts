/**
 * The few parts of koffi that all back-ends use. koffi is optional, so no declaration names its own types. A buffer may stand
 * where a function takes a pointer, for as long as the call lasts.
 */
export interface Koffi {
  /** `null`: what is linked into Node itself, on Linux and macOS the C library. Throws when it cannot be opened. */
  load(path: string | null): KoffiLibrary;
  /** Of the call before. */
  errno(): number;
  readonly os: { readonly errno: Readonly<Record<string, number>> };
}

export interface KoffiLibrary {
  /** Throws when the library has no such function. */
  func(signature: string): (...values: (number | string | Uint8Array | Int32Array | null)[]) => unknown;
}
