import type { Ids } from "@holdfast/shared-process";
import type { Random } from "../random.ts";

/** Ids of the forms that the product's have, from the seed. */
export class SimIds implements Ids {
  readonly #random: Random;
  #count = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  newId(): string {
    this.#count += 1;
    const time = (0x018c_0000_0000 + this.#count).toString(16).padStart(12, "0");
    return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${this.#random.hex(12)}`;
  }

  newGeneration(): string {
    return `${this.#random.hex(8)}-${this.#random.hex(4)}-4000-8000-${this.#random.hex(12)}`;
  }

  newToken(bytes = 32): string {
    return Buffer.from(this.#random.hex(bytes * 2), "hex").toString("base64url");
  }
}
