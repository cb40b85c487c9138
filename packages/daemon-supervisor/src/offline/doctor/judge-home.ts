import { repairable, told } from "./finding.ts";
import type { Finding, Seen, SeenHome } from "./seen.ts";
import { judgeTrust } from "./judge-trust.ts";
import { holdsAlone } from "./served.ts";

const FORCE_STOP = "agent ps --force-stop";
const RESTART = "agent daemon restart keeps the workers";

/** Pure: what is wrong with a home as a whole. */
export const judgeHome = (seen: Seen): Finding[] => [
  // First: in a home that others may enter no daemon starts, and nothing else is repaired.
  ...unsafeFindings(seen),
  ...unwritableFindings(seen),
  ...ownerFindings(seen),
  ...daemonFindings(seen),
  ...seen.lost.map((pid) =>
    told(
      {
        kind: "ownership_lost",
        subject: `process ${pid}`,
        reason: `it holds ${seen.home}, and no record names it as the owner`,
      },
      `${FORCE_STOP} ends it; its workers live on until then`,
    ),
  ),
  ...requestFindings(seen),
  ...judgeTrust(seen),
  ...orphanFindings(seen),
  ...capabilityFindings(seen),
  ...unseenFindings(seen),
];

const unsafeFindings = ({ unsafe }: SeenHome): Finding[] =>
  unsafe.map((found) => {
    const what = { kind: "unsafe_mode", subject: found.folder, reason: found.reason } as const;
    if ("next" in found) return told(what, found.next);
    const repair = "take all rights of others away, from directories and files of this user alone";
    return repairable(what, { repair, action: { by: "command", what: "make_private", paths: found.paths } });
  });

/** A folder is told with its home where that is refused for the same reason, and one that may not even be looked into is told as that. */
const unwritableFindings = ({ unwritable, unseen, home }: SeenHome): Finding[] =>
  unwritable
    .filter(({ folder, errno }) => {
      const isHome = unwritable.some((other) => other.folder === home && other.errno === errno && folder !== home);
      return !isHome && !unseen.some(({ subject, denied }) => denied && subject === folder);
    })
    .map(({ folder, reason }) =>
      told(
        { kind: "home_unwritable", subject: folder, reason },
        "let this user write there again (mount -o remount,rw, or chmod u+rwx): until then requests are refused, and no daemon starts",
      ),
    );

/** What is no directory could not be listed either: that is told once. */
const unseenFindings = ({ unseen, unsafe }: SeenHome): Finding[] =>
  unseen
    .filter(({ subject }) => !unsafe.some((found) => found.folder === subject && "next" in found))
    .map(({ subject, reason, denied }) =>
      told(
        { kind: "not_seen", subject, reason },
        denied
          ? "make it accessible to this user (chmod u+rwx), then look again; until then nothing is judged by what is missing in it"
          : "look again: nothing is judged by what is missing in it",
      ),
    );

function ownerFindings({ owner, home, epoch, answer, lost }: SeenHome): Finding[] {
  // Whatever cannot be told of its process: one that answers is there.
  if (owner.kind !== "unknown" || answer.kind === "answers") return [];
  const what = { kind: "owner_unknown", subject: home, reason: owner.why } as const;
  const { record } = owner;
  if (record !== null && record.home !== home)
    return [told(what, `remove ${home}/owner, which is a copy as well; then a daemon can start here`)];
  if (epoch === null && lost.length > 0) return [told(what, `${FORCE_STOP} ends it`)];
  if (epoch === null) return [told(what, `make ${home}/owner a directory that can be read`)];
  return [
    repairable(what, {
      repair: `claim epoch ${epoch + 1} above it: should it live, it finds that and ends by itself; nothing is signalled`,
      needs: ["gone"],
      action: { by: "command", what: "claim_above", epoch },
    }),
  ];
}

function daemonFindings({ home, owner, answer, version }: SeenHome): Finding[] {
  switch (answer.kind) {
    case "none":
      return [];
    case "silent": {
      const record = "record" in owner ? owner.record : null;
      const pid = record?.identity.pid ?? "?";
      const maintained = record?.phase === "maintenance";
      const reason = maintained
        ? `process ${pid} is stopping this home by force`
        : `process ${pid} does not answer; slow is not dead, and it is not replaced`;
      return [told({ kind: "daemon_silent", subject: home, reason }, `wait, or ${FORCE_STOP}`)];
    }
    case "other_protocol":
      return [told({ kind: "daemon_protocol", subject: home, reason: answer.why }, RESTART)];
    case "answers": {
      const reason = `the daemon is version ${answer.version}, this command ${version}`;
      const stale = answer.version === version ? [] : [told({ kind: "daemon_stale", subject: home, reason }, RESTART)];
      const lost = {
        kind: "ownership_lost",
        subject: home,
        reason: "its daemon answers, and no longer owns it",
      } as const;
      return answer.status === "ownership-lost" ? [...stale, told(lost, RESTART)] : stale;
    }
  }
}

function requestFindings({ home, requests, requestsAside, answer }: SeenHome): Finding[] {
  const found = requestsAside.map((path) =>
    told(
      { kind: "requests_set_aside", subject: path, reason: "it was found damaged; the daemon has a new one" },
      "remove it once nobody wants to look at it",
    ),
  );
  if (requests.kind === "refused") {
    const isDamage = requests.why === "corrupt" || requests.why === "oversize";
    // A journal that a daemon has open is written behind what is damaged, and read again by its successor.
    const when =
      answer.kind === "none"
        ? "the first request to the next daemon puts it aside"
        : "the next request puts it aside, or, where the daemon has it open, the first one after agent daemon restart, which keeps the workers";
    const repair = isDamage ? `${when}; what it remembered is forgotten` : undefined;
    const reason = `${requests.path}: ${requests.message}`;
    return [...found, told({ kind: "requests_damaged", subject: home, reason }, repair)];
  }
  if (requests.kind !== "ok" || requests.quarantines.length === 0) return found;
  const reason = requests.quarantines.map(({ id, why, reason: words }) => `${id} (${why}): ${words}`).join("; ");
  return [
    ...found,
    repairable(
      { kind: "requests_quarantined", subject: home, reason },
      {
        repair: "accept as lost what requests of before were answered, so that the home takes requests again",
        needs: ["loss"],
        action: { by: "daemon", repair: "resolve_requests", subject: home },
      },
    ),
  ];
}

/** What a session runs whose worker the daemon alone can name is its work, and was left by nobody. */
function orphanFindings({ orphans, sessions }: Seen): Finding[] {
  const served = new Set(sessions.filter(holdsAlone).map(({ sessionId }) => sessionId));
  const left = orphans.filter(({ workerId }) => workerId === null || !served.has(workerId));
  return left.map(({ identity, command, workerId, doubt }) => {
    const whose = workerId === null ? "of a session that no record names" : `of ${workerId}`;
    const reason = `${command}, left ${whose}${doubt === null ? "" : `: ${doubt}`}`;
    return told(
      { kind: "leftover", subject: `process ${identity.pid}`, reason },
      doubt === null ? FORCE_STOP : undefined,
    );
  });
}

function capabilityFindings({ capabilities }: SeenHome): Finding[] {
  if (capabilities === null) return [];
  const { boundSignals, peers, reason } = capabilities;
  const why = reason ?? "this system has no means for it";
  return [
    ...(boundSignals ? [] : [told({ kind: "narrow_signals", subject: "this machine", reason: why })]),
    ...(peers ? [] : [told({ kind: "no_peer_check", subject: "this machine", reason: why })]),
  ];
}
