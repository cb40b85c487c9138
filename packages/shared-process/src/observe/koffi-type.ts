/**
 * The few parts of koffi that the back-ends of macOS and Windows use. koffi is optional, so no declaration names its
 * own types. A buffer may stand where a function takes a pointer, for as long as the call lasts.
 */
export interface Koffi {
  load(path: string): KoffiLibrary;
  /** Of the call before. */
  errno(): number;
  readonly os: { readonly errno: Readonly<Record<string, number>> };
}

export interface KoffiLibrary {
  /** Throws when the library has no such function. */
  func(signature: string): (...values: (number | string | Uint8Array | null)[]) => unknown;
}
