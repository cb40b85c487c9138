// What mounts do to a trusted directory. In a mount namespace of its own.
import { mkdirSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { canonicalDirectory, createProjectTrustAuthority, identityToJson } from "../../src/index.ts";
import { directory, granted, openFiles, room, run, verdictOf } from "./room.ts";

/** The same directory by another path; it is still trusted by its own. */
function boundElsewhere(): unknown {
  const [trusted, other] = [directory("bound"), directory("other-path")];
  using authority = createProjectTrustAuthority({ policy: [trusted] });
  run("mount", "--bind", trusted, other);
  return [authority.authorize(other), authority.authorize(trusted)].map(verdictOf);
}

/** Another directory on top of it, of the same file system and of another one. */
function mountedOver(...mount: readonly string[]): unknown {
  const [trusted] = [directory("over"), directory("foreign")];
  using authority = createProjectTrustAuthority({ policy: [trusted] });
  const before = granted(authority.authorize(trusted));
  run("mount", ...mount, trusted);
  const during = [authority.validate(before), authority.authorize(trusted)].map(verdictOf);
  // What is held is what was trusted: it is not busy for the mount on top.
  run("umount", trusted);
  return [...during, ...[authority.validate(before), authority.authorize(trusted)].map(verdictOf)];
}

/** Mounted above it: the way to it leads to another directory. */
function mountedAbove(): unknown {
  const trusted = directory("above", "project");
  directory("foreign-above", "project");
  using authority = createProjectTrustAuthority({ policy: [trusted] });
  const before = granted(authority.authorize(trusted));
  run("mount", "--bind", join(room, "foreign-above"), join(room, "above"));
  return verdictOf(authority.validate(before));
}

/** Inside of it: another file system, and another part of its own. */
async function mountedInside(): Promise<unknown> {
  const trusted = directory("inside");
  for (const name of ["disk", "bind", "plain"]) writeFileSync(join(directory("inside", name), "config"), "of its own");
  writeFileSync(join(directory("elsewhere"), "config"), "foreign");
  writeFileSync(join(trusted, "file"), "of its own");
  using authority = createProjectTrustAuthority({ policy: [trusted] });
  const binding = granted(authority.authorize(trusted));
  run("mount", "-t", "tmpfs", "tmpfs", join(trusted, "disk"));
  writeFileSync(join(trusted, "disk", "config"), "foreign");
  run("mount", "--bind", join(room, "elsewhere"), join(trusted, "bind"));
  run("mount", "--bind", join(room, "elsewhere", "config"), join(trusted, "file"));
  const paths = ["disk/config", "bind/config", "file", "plain/config"];
  const outcome = await authority.withBinding(binding, (root) => [
    ...paths.map((path) => verdictOf(root.readFile(path))),
    ...["disk", "bind", "plain"].map((path) => verdictOf(root.list(path))),
  ]);
  return outcome.kind === "done" ? outcome.value : outcome;
}

/** Its files have the device of their layer, its directories that of the overlay. */
async function onOverlay(): Promise<unknown> {
  writeFileSync(join(directory("lower", "project"), "config"), "of the lower layer");
  const layers = directory("layers");
  run("mount", "-t", "tmpfs", "tmpfs", layers);
  const [upper, work, place] = [directory("layers", "upper"), directory("layers", "work"), directory("overlay")];
  const options = `lowerdir=${join(room, "lower")},upperdir=${upper},workdir=${work},xino=off`;
  run("mount", "-t", "overlay", "-o", options, "overlay", place);
  const trusted = join(place, "project");
  using authority = createProjectTrustAuthority({ policy: [trusted] });
  const outcome = await authority.withBinding(granted(authority.authorize(trusted)), (root) =>
    verdictOf(root.readFile("config")),
  );
  return {
    isOtherDevice: statSync(join(trusted, "config")).dev !== statSync(trusted).dev,
    read: outcome.kind === "done" ? outcome.value : outcome,
  };
}

/** On an ext4 of its own, so that nothing else takes the number in between. */
function sameInode(): unknown {
  const disk = ext4("same-inode", directory("empty"));
  const trusted = join(disk, "project");
  mkdirSync(trusted);
  const found = canonicalDirectory(trusted);
  if (found.kind === "denied") return found;
  const policy = [{ directory: trusted, revision: "r", identity: identityToJson(found.identity) }];
  rmdirSync(trusted);
  mkdirSync(trusted);
  using authority = createProjectTrustAuthority({ policy });
  return {
    isSameInode: statSync(trusted, { bigint: true }).ino === found.identity.inode,
    verdict: verdictOf(authority.authorize(trusted)),
  };
}

/** Inodes of 128 bytes have no room for a birth time. */
function unborn(): unknown {
  directory("content", "project");
  const trusted = join(ext4("unborn", join(room, "content"), "-I", "128"), "project");
  const birth = statSync(trusted, { bigint: true }).birthtimeNs;
  using authority = createProjectTrustAuthority({ policy: [trusted] });
  const binding = granted(authority.authorize(trusted));
  const kept = authority.identityOf(binding);
  if (kept.kind === "denied") return kept;
  const { revision, ...identity } = kept.identity;
  using next = createProjectTrustAuthority({ policy: [{ directory: trusted, revision, identity }] });
  return {
    birth: String(birth),
    held: [authority.validate(binding), authority.reissue(kept.identity)].map(verdictOf),
    later: [next.authorize(trusted), next.reissue(kept.identity)].map(verdictOf),
  };
}

function ext4(name: string, content: string, ...options: readonly string[]): string {
  const image = join(room, `${name}.img`);
  run("mkfs.ext4", "-q", ...options, "-d", content, image, "4M");
  const place = directory(name);
  run("mount", "-o", "loop", image, place);
  return place;
}

const before = openFiles();
const rows = {
  boundElsewhere: boundElsewhere(),
  boundOver: mountedOver("--bind", join(room, "foreign")),
  diskOver: mountedOver("-t", "tmpfs", "tmpfs"),
  mountedAbove: mountedAbove(),
  mountedInside: await mountedInside(),
  onOverlay: process.argv.includes("overlay") ? await onOverlay() : null,
  sameInode: sameInode(),
  unborn: unborn(),
};
process.stdout.write(JSON.stringify({ ...rows, leftOpen: openFiles() - before }));
