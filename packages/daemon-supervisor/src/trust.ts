import { ProtocolError } from "@holdfast/client/protocol";
import {
  createProjectTrustAuthority,
  type DirectoryIdentity,
  identityToJson,
  policyOf,
  type PolicyEntry,
  type ProjectTrustAuthority,
  type TrustedDirectory,
  writeTrustFileAsync,
} from "@holdfast/project-trust";
import type { FileSystem } from "@holdfast/recovery-journal";
import { CodedError, reasonOf } from "@holdfast/shared-process";
import type { Logger } from "pino";
import { trustPath } from "./home.ts";
import { readTrust, TOO_MANY } from "./trust-list.ts";

interface TrustParts {
  readonly home: string;
  readonly fs: FileSystem;
  readonly log: Pick<Logger, "error">;
}

/**
 * The directories that are trusted, by one supervisor's authority over `<home>/trust.json`. The file is the truth: each
 * change begins with it, so that what a person wrote there is kept. Changes must not overlap.
 */
export class Trust implements Disposable {
  readonly authority: ProjectTrustAuthority;
  readonly #fs: FileSystem;
  readonly #path: string;
  /** Whether what stands in the file was synced, as far as this supervisor knows. */
  #isDurable = false;

  constructor({ home, fs, log }: TrustParts) {
    this.#fs = fs;
    this.#path = trustPath(home);
    this.authority = createProjectTrustAuthority({ policy: [] });
    try {
      this.authority.update(policyOf(this.read()));
    } catch (error) {
      // No reason to serve nothing: nothing is trusted, and whoever adds or removes is told why not (I47).
      log.error({ reason: reasonOf(error) }, "no directory is trusted");
    }
  }

  /** The list as it stands. Throws `invalid_config`; where it is malformed nothing is trusted any more (I47). */
  read(): readonly TrustedDirectory[] {
    const list = readTrust(this.#fs, this.#path);
    if (list.kind === "list") return list.directories;
    if (list.kind === "malformed") this.authority.update([]);
    throw list.error;
  }

  /** Whether the entry is of this very directory, which was looked at just now. */
  isProven(entry: TrustedDirectory, identity: DirectoryIdentity): boolean {
    const { directory, device, inode, birthTimeNs } = identityToJson(identity);
    if (entry.directory !== directory || entry.device !== device || entry.inode !== inode) return false;
    if (entry.birthTimeNs !== birthTimeNs) return false;
    // Without a birth time only what this authority has held proves anything.
    return birthTimeNs !== "0" || this.#isHeld(entry);
  }

  /** Durable, then in force. `renewed`: the revision under which a directory was trusted just now. */
  async write(directories: readonly TrustedDirectory[], renewed: string | null): Promise<void> {
    this.#isDurable = false;
    try {
      await writeTrustFileAsync(this.#fs, this.#path, directories);
    } catch (error) {
      if (!(error instanceof CodedError) || error.code !== "malformed_policy") throw error;
      throw new ProtocolError("invalid_config", error.message, { hint: TOO_MANY });
    }
    this.#isDurable = true;
    this.authority.update(policyOf(directories).map((entry) => (entry.revision === renewed ? heldIf(entry) : entry)));
  }

  /**
   * Nothing is to be changed: what stands is made durable before that is said, since a predecessor's last step may have
   * failed, and is in force.
   */
  async keep(directories: readonly TrustedDirectory[]): Promise<void> {
    if (this.#isDurable || !this.#fs.exists(this.#path)) this.authority.update(policyOf(directories));
    else await this.write(directories, null);
  }

  /** Revokes what was bound, and closes every descriptor (I122). */
  [Symbol.dispose](): void {
    this.authority.dispose();
  }

  #isHeld({ directory, revision }: TrustedDirectory): boolean {
    const held = this.authority.entries().find((entry) => entry.directory === directory);
    return held?.revision === revision && held.state === "trusted";
  }
}

/** Where there are no birth times, what is there now is held from now on: nothing else would prove it later. */
const heldIf = ({ directory, revision, identity }: PolicyEntry): PolicyEntry =>
  identity?.birthTimeNs === "0" || identity === undefined ? { directory, revision } : { directory, revision, identity };
