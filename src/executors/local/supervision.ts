import { uptime } from 'node:os'
import { isPopulated, killCgroup, removeCgroup } from './cgroups.ts'
import { type Journal, recordCuts, recordDeadline, recordTerm, type ShimClaim } from './journal.ts'
import { runIdVariable } from './launch.ts'
import { findProcess, isZombie, listProcesses, type ProcessSeen, sendSignal, startedWith } from './processes.ts'
import { deadlineGraceSeconds } from './spawn.ts'
import { type RunFiles, readSizes, waitsForDisk } from './spool.ts'

/**
 * The server's part of the supervision. Each inspection does what is overdue by the journal: KILL after a grace, TERM
 * and KILL at the fallback deadline, and the end of a shim that hangs.
 *
 * The cgroup of a run is its job. Without a cgroup the job is the members of its session and group, and all processes
 * that began with the run's BERTH_RUN_ID, if the server may read that. A process of another session that has cleared
 * its environment is not found.
 */
export interface WatchedMachine {
  bootId: string
  /** Address of this machine; null: others cannot reach it. */
  ip: string | null
  nowMs(): number
  /** Runs without a cgroup that had no process at the last inspection. */
  cleared: Set<string>
}

/** The journal of a run whose shim took the claim. */
export type ClaimedJournal = Journal & { claim: ShimClaim }

/** The shim ends leftovers itself within this time after its exit record. */
const leftoverSeconds = 0.5
/** A shim that still waits for its readers then never ends: an unknown process holds a pipe of its output. */
const hungSeconds = 10
/** The last act of a shim needs a moment to take effect; until then nothing is searched for. */
const dyingSeconds = 0.1
/** The parent of a zombie reaps it sooner than this, however busy the machine is. */
const reapedSeconds = 10
const ticksPerSecond = 100
const never = Number.POSITIVE_INFINITY

/** The grace of a stop, or the deadline of the run, is over. */
export const isOverdue = ({ claim, exit, stopUp }: Journal, up: number): boolean =>
  claim !== null && exit === null && Math.min(stopUp ?? never, claim.due ?? never) <= up

/** The living shim of this claim. */
export async function findShim({ pid, born }: ShimClaim): Promise<ProcessSeen | null> {
  const seen = await findProcess(pid)
  return seen?.born === born ? seen : null
}

/** Ends overdue processes of the run; returns whether any process of it is alive. */
export async function superviseRun(
  files: RunFiles,
  journal: ClaimedJournal,
  { cleared }: WatchedMachine,
): Promise<boolean> {
  if (await findShim(journal.claim)) {
    await endOverdueJob(files, journal, uptime())
    return true
  }
  const isJobLeft = await endOrphanedJob(files.runId, journal, cleared)
  return (await endReaders(journal)) || isJobLeft
}

async function endOverdueJob(files: RunFiles, journal: ClaimedJournal, up: number): Promise<void> {
  const { claim, exit, stopUp, deadline } = journal
  // The server or watchdog that recorded it was killed before it sent TERM. After the grace, KILL follows without it.
  const isInGrace = deadline !== null || (stopUp !== null && up < stopUp)
  if (!exit && isInGrace && !journal.isTermSent) sendTerm(files.journal, journal)
  const firedUp = deadline?.up ?? fireDeadline(files.journal, journal, up)
  const endsUp = exit ? (exit.up ?? up) + leftoverSeconds : Math.min(stopUp ?? never, firedUp + deadlineGraceSeconds)
  if (up < endsUp) return
  await killJob(files.runId, journal)
  if (up < endsUp + hungSeconds || waitsForDisk(files)) return
  recordCuts(files.journal, readSizes(files))
  sendSignal(-claim.pid, 'SIGKILL')
}

/** Sends TERM if the fallback deadline is over; returns the uptime at which the grace of the deadline begins. */
function fireDeadline(journalPath: string, journal: ClaimedJournal, up: number): number {
  const dueUp = journal.claim.due ?? never
  if (journal.exit || journal.deadline || journal.stopUp !== null || up < dueUp) return dueUp
  // The record comes first: after TERM the shim writes its exit record, and later records do not count.
  let firedUp = up
  try {
    recordDeadline(journalPath, up)
  } catch {
    // A full disk must not keep the job alive: KILL follows as if the record had been written in time.
    firedUp = dueUp
  }
  sendTerm(journalPath, journal)
  return firedUp
}

/** TERM to the group of the job. It is recorded afterwards: after a kill in between it is sent twice, not never. */
export function sendTerm(journalPath: string, { session }: ClaimedJournal): void {
  if (session) {
    // The leader gets its group when it gets its session, shortly after it was recorded.
    if (!sendSignal(-session.pid, 'SIGTERM')) sendSignal(session.pid, 'SIGTERM')
    // A stopped process receives TERM when it continues.
    sendSignal(-session.pid, 'SIGCONT')
  }
  try {
    recordTerm(journalPath)
  } catch {
    // On a full disk the next inspection sends it again.
  }
}

/** KILL to all processes of the job that can be found. */
export async function killJob(runId: string, journal: ClaimedJournal): Promise<void> {
  const { cgroup } = journal.claim
  if (cgroup !== null) killCgroup(cgroup)
  else await killMembers(runId, journal)
}

/** Kills the job of a dead shim; returns whether a process of it is left. */
async function endOrphanedJob(runId: string, journal: ClaimedJournal, cleared: Set<string>): Promise<boolean> {
  const { cgroup } = journal.claim
  if (cgroup !== null) {
    // Without its shim, no process enters it any more.
    if (isPopulated(cgroup)) killCgroup(cgroup)
    else for (const path of [cgroup, ...journal.limited]) removeCgroup(path)
    return isPopulated(cgroup)
  }
  if (cleared.has(runId)) return false
  const isLeft = await killMembers(runId, journal)
  if (!isLeft) cleared.add(runId)
  return isLeft
}

/** Ends the group of a dead shim: its readers, which end with the job. Returns whether one is left. */
async function endReaders({ claim, exit }: ClaimedJournal): Promise<boolean> {
  if (!sendSignal(-claim.pid, 0)) return false
  const waitSeconds = isZombie(claim.pid) ? reapedSeconds : dyingSeconds
  if (typeof exit?.up === 'number' && uptime() - exit.up < waitSeconds) return true
  const members = (await listProcesses()).filter((seen) => seen.group === claim.pid)
  if (members.length === 0 || members.some((member) => isForeign(member, claim, exit))) return false
  sendSignal(-claim.pid, 'SIGTERM')
  return true
}

/** The number of a group is free once the group is over, and may then name another group. */
function isForeign({ pid, session, born }: ProcessSeen, claim: ShimClaim, exit: Journal['exit']): boolean {
  const bornLater = typeof exit?.up === 'number' && Number(born) > (exit.up + 1) * ticksPerSecond
  return pid === claim.pid || session !== claim.pid || bornLater
}

/** false: no process of the job was found. */
async function killMembers(runId: string, { claim, session }: ClaimedJournal): Promise<boolean> {
  const since = claim.up === null ? 0 : (claim.up - 1) * ticksPerSecond
  const isCandidate = ({ pid, group, born }: ProcessSeen) => Number(born) >= since && group !== claim.pid && pid > 1
  const all = (await listProcesses()).filter(isCandidate)
  const leader = all.find(({ pid }) => pid === session?.pid)
  const isSame = !leader || leader.born === session?.born
  const isOfSession = (seen: ProcessSeen) => isSame && (seen.session === session?.pid || seen.group === session?.pid)
  const members = all.filter((seen) => isOfSession(seen) || startedWith(seen.pid, `${runIdVariable}=${runId}`))
  for (const { pid } of members) sendSignal(pid, 'SIGKILL')
  return members.length > 0
}
