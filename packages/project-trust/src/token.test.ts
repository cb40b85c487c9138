import { renameSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createProjectTrustAuthority } from "./authority.ts";
import { granted, only, verdictOf } from "./authority.testing.ts";
import { Temporary } from "./temporary.testing.ts";

function minted(authority: ReturnType<typeof createProjectTrustAuthority>, binding: unknown): string {
  return only(authority.tokenOf(binding), "token").token;
}

describe("a token", () => {
  it("I48 leads to the very binding, and is one for each", () => {
    using temporary = new Temporary();
    using authority = createProjectTrustAuthority({ policy: [temporary.path] });
    const [first, second] = [1, 2].map(() => granted(authority.authorize(temporary.path)));
    const [one, two] = [minted(authority, first), minted(authority, second)];
    expect(one).toMatch(/^[\w-]{43}$/);
    expect([minted(authority, first), one === two]).toEqual([one, false]);
    expect([authority.bindingOf(one), authority.bindingOf(two)]).toEqual([
      { kind: "granted", binding: first },
      { kind: "granted", binding: second },
    ]);
    expect(granted(authority.bindingOf(one))).toBe(first);
  });

  it("I48 I160 leads nowhere with any bit of it flipped", () => {
    using temporary = new Temporary();
    using authority = createProjectTrustAuthority({ policy: [temporary.path] });
    const token = minted(authority, granted(authority.authorize(temporary.path)));
    const bytes = Buffer.from(token);
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const flipped = Buffer.from(bytes);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(verdictOf(authority.bindingOf(flipped.toString("latin1")))).toBe("unknown_token");
    }
    // The last character has two bits that decoding drops: another spelling of the same bytes is no token, either.
    const same = Buffer.from(token, "base64url");
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const spellings = Array.from(alphabet, (last) => token.slice(0, -1) + last).filter((spelling) =>
      Buffer.from(spelling, "base64url").equals(same),
    );
    expect(spellings.length).toBe(4);
    expect(spellings.filter((spelling) => authority.bindingOf(spelling).kind === "granted")).toEqual([token]);
    for (const other of [`${token}=`, ` ${token}`, `${token}\n`, token.slice(1), "", "x".repeat(1_000_000)])
      expect(verdictOf(authority.bindingOf(other))).toBe("unknown_token");
    for (const other of [undefined, null, 7, {}, [token], Buffer.from(token), Object(token), { toString: () => token }])
      expect(verdictOf(authority.bindingOf(other))).toBe("unknown_token");
  });

  it("I160 of another authority, or of a binding that has ended, leads nowhere", () => {
    using temporary = new Temporary();
    const [a, b] = [temporary.directory("a"), temporary.directory("b")];
    using other = createProjectTrustAuthority({ policy: [a] });
    const authority = createProjectTrustAuthority({ policy: [a, b] });
    const foreign = minted(other, granted(other.authorize(a)));
    expect(verdictOf(authority.bindingOf(foreign))).toBe("unknown_token");
    const binding = granted(authority.authorize(a));
    const token = minted(authority, binding);
    authority.revoke(binding);
    expect([authority.bindingOf(token), authority.tokenOf(binding)].map(verdictOf)).toEqual([
      "unknown_token",
      "revoked",
    ]);
    const unlisted = minted(authority, granted(authority.authorize(b)));
    authority.update([a]);
    expect(verdictOf(authority.bindingOf(unlisted))).toBe("unknown_token");
    const last = minted(authority, granted(authority.authorize(a)));
    authority.dispose();
    expect(verdictOf(authority.bindingOf(last))).toBe("disposed");
    using next = createProjectTrustAuthority({ policy: [a, b] });
    expect([token, unlisted, last].map((old) => verdictOf(next.bindingOf(old)))).toEqual([
      "unknown_token",
      "unknown_token",
      "unknown_token",
    ]);
  });

  it("I48 is checked against the file system at each use", () => {
    using temporary = new Temporary();
    const directory = temporary.directory("a");
    using authority = createProjectTrustAuthority({ policy: [directory] });
    const token = minted(authority, granted(authority.authorize(directory)));
    renameSync(directory, temporary.at("b"));
    expect([authority.bindingOf(token), authority.bindingOf(token)].map(verdictOf)).toEqual([
      "missing",
      "unknown_token",
    ]);
  });

  it("I48 is never short, and never another's", () => {
    using temporary = new Temporary();
    using short = createProjectTrustAuthority({ policy: [temporary.path], newToken: () => "short" });
    expect(() => short.tokenOf(granted(short.authorize(temporary.path)))).toThrow("token");
    const always = "x".repeat(43);
    using repeating = createProjectTrustAuthority({ policy: [temporary.path], newToken: () => always });
    expect(minted(repeating, granted(repeating.authorize(temporary.path)))).toBe(always);
    expect(() => repeating.tokenOf(granted(repeating.authorize(temporary.path)))).toThrow("token");
  });
});
