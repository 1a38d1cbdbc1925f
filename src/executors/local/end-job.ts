import { isPopulated, killCgroup, removeCgroup } from './cgroups.ts'
import { type Journal, recordCuts, recordDeadline, recordTermSignal, type ShimClaim } from './journal.ts'
import { runIdVariable } from './launch.ts'
import { listProcesses, type ProcessSeen, sendSignal, startedWith, ticksPerSecond } from './processes.ts'
import { deadlineGraceSeconds } from './spawn.ts'
import { isWaitingForDisk, type RunFiles, readSizes } from './spool.ts'

/**
 * Ends the job of a run: TERM to its process group, and KILL after the grace period.
 *
 * A job is the set of processes in the cgroup of the run. Without a cgroup, it is the members of its session and group,
 * and all processes that began with the run's BERTH_RUN_ID, if the server may read their environment. A process that
 * changes its session and clears its environment is not found then.
 */

/** The journal of a run whose shim took the claim. */
export type ClaimedJournal = Journal & { claim: ShimClaim }

/** The shim itself ends leftover processes within this time after its exit record. */
const leftoverSeconds = 0.5
/**
 * If the shim still waits for its readers after this time, it will never end: an unknown process holds a pipe of its
 * output.
 */
const hungSeconds = 10
const never = Number.POSITIVE_INFINITY

/** Sends TERM, or KILL after the grace period, if the deadline or a stop of the run is due. */
export async function endOverdueJob(files: RunFiles, journal: ClaimedJournal, up: number): Promise<void> {
  const { claim, exit, stopUp, deadline } = journal
  // The server or watchdog that recorded it may have been killed before sending TERM, so TERM is sent again; KILL
  // follows after the grace period in any case.
  const isInGrace = deadline !== null || (stopUp !== null && up < stopUp)
  if (!exit && isInGrace && !journal.isTermSent) sendTerm(files.journal, journal)
  const firedUp = deadline?.up ?? fireDeadline(files.journal, journal, up)
  const endsUp = exit ? (exit.up ?? up) + leftoverSeconds : Math.min(stopUp ?? never, firedUp + deadlineGraceSeconds)
  if (up < endsUp) return
  await killJob(files.runId, journal)
  if (up < endsUp + hungSeconds || isWaitingForDisk(files)) return
  recordCuts(files.journal, readSizes(files))
  sendSignal(-claim.pid, 'SIGKILL')
}

/**
 * Sends TERM if the fallback deadline has passed. Returns the uptime at which the grace period of the deadline begins.
 */
function fireDeadline(journalPath: string, journal: ClaimedJournal, up: number): number {
  const dueUp = journal.claim.due ?? never
  if (journal.exit || journal.deadline || journal.stopUp !== null || up < dueUp) return dueUp
  // The record must be first: after TERM the shim writes its exit record, and later records are ignored.
  let firedUp = up
  try {
    recordDeadline(journalPath, up)
  } catch {
    // If the disk is full, KILL follows as if the record had been written in time; a full disk must not keep the job
    // alive.
    firedUp = dueUp
  }
  sendTerm(journalPath, journal)
  return firedUp
}

/**
 * Sends TERM to the process group of the job, and then records it: if the server is killed in between, TERM is sent
 * twice instead of never.
 */
export function sendTerm(journalPath: string, { session }: ClaimedJournal): void {
  if (session) {
    // The process group is created shortly after the leader was recorded; until then only the leader is signalled.
    if (!sendSignal(-session.pid, 'SIGTERM')) sendSignal(session.pid, 'SIGTERM')
    // A stopped process receives TERM when it continues.
    sendSignal(-session.pid, 'SIGCONT')
  }
  try {
    recordTermSignal(journalPath)
  } catch {
    // If the disk is full, the next inspection sends TERM again.
  }
}

/** Kills all processes of the job that can be found. */
export async function killJob(runId: string, journal: ClaimedJournal): Promise<void> {
  const { cgroup } = journal.claim
  if (cgroup !== null) killCgroup(cgroup)
  else await killMembers(runId, journal)
}

/** Kills the job of a dead shim; returns whether any of its processes is left. */
export async function endOrphanedJob(runId: string, journal: ClaimedJournal, cleared: Set<string>): Promise<boolean> {
  const { cgroup } = journal.claim
  if (cgroup !== null) {
    // After the shim has died, no more processes enter the cgroup.
    if (isPopulated(cgroup)) killCgroup(cgroup)
    else for (const path of [cgroup, ...journal.limited]) removeCgroup(path)
    return isPopulated(cgroup)
  }
  if (cleared.has(runId)) return false
  const isLeft = await killMembers(runId, journal)
  if (!isLeft) cleared.add(runId)
  return isLeft
}

/** Returns false if no process of the job was found. */
async function killMembers(runId: string, journal: ClaimedJournal): Promise<boolean> {
  const members = await findMembers(runId, journal)
  for (const { pid } of members) sendSignal(pid, 'SIGKILL')
  return members.length > 0
}

/** Returns the processes of a job without a cgroup, as far as they can be found. */
export async function findMembers(runId: string, { claim, session }: ClaimedJournal): Promise<ProcessSeen[]> {
  const since = claim.up === null ? 0 : (claim.up - 1) * ticksPerSecond
  const isCandidate = ({ pid, group, born }: ProcessSeen) => Number(born) >= since && group !== claim.pid && pid > 1
  const all = (await listProcesses()).filter(isCandidate)
  const leader = all.find(({ pid }) => pid === session?.pid)
  const isSame = !leader || leader.born === session?.born
  const isOfSession = (seen: ProcessSeen) => isSame && (seen.session === session?.pid || seen.group === session?.pid)
  const isMember = async (seen: ProcessSeen) =>
    isOfSession(seen) || (await startedWith(seen.pid, `${runIdVariable}=${runId}`))
  const members = await Promise.all(all.map(isMember))
  return all.filter((_, index) => members[index])
}
