import { isPopulated, killCgroup, removeCgroup } from './cgroups.ts'
import { type Journal, recordCuts, recordDeadline, recordTerm, type ShimClaim } from './journal.ts'
import { runIdVariable } from './launch.ts'
import { isUnmourned, type ProcessSeen, seeAll, seeProcess, signal, startedWith } from './processes.ts'
import { deadlineGraceSeconds } from './spawn.ts'

/**
 * The server's part of the supervision. While a shim works, the server only looks at it: a job of the same account may
 * have stopped the shim. So each look continues a stopped shim, and does what the journal says is overdue: KILL after a
 * grace, TERM and KILL at the fallback deadline, and the end of a shim that hangs. All of it follows
 * from the journal alone, so it works after a restart too.
 *
 * If the run has a cgroup, that is the job. If not, the job is what one look at the process table finds: the members of
 * its session and group, and all processes that began with the run's BERTH_RUN_ID in their environment, if the server
 * may read that. A process of another session that has cleared its environment is not found.
 */
export interface WatchedMachine {
  bootId: string
  /** Seconds since the last boot. */
  uptimeSeconds(): number
  /** Address of this machine; null: it has none that others reach. */
  ip: string | null
  /** Time of the database. */
  nowMs(): number
  /** Runs without a cgroup that had no process at the last look. */
  cleared: Set<string>
}

export interface WatchedRun {
  runId: string
  journalPath: string
  /** Bytes kept of each stream. */
  sizes(): { stdout: number; stderr: number }
  /** A reader of its output waits for room on the disk. */
  waitsForDisk(): boolean
  read(): Journal | null
}

/** A run whose parent has said who it is. */
export type Claimed = Journal & { claim: ShimClaim }

/** Patience with leftovers: the shim acts first. */
const patienceSeconds = 0.5
/** A shim that has been alone for this long does not end by itself. */
const aloneSeconds = 10
/** The last act of a shim needs a moment to take effect; until then nothing is searched for. */
const dyingSeconds = 0.1
/** The parent of a dead shim takes note of its death sooner than this, however busy the machine is. */
const mournedSeconds = 10
const ticksPerSecond = 100
const never = Number.POSITIVE_INFINITY

/** Something has to be done to the run by now, if it is still alive. */
export const isOverdue = ({ claim, exit, stopUp }: Journal, up: number): boolean =>
  claim !== null && exit === null && Math.min(stopUp ?? never, claim.due ?? never) <= up

/** The living shim of this claim. */
export async function seeShim({ pid, born }: ShimClaim): Promise<ProcessSeen | null> {
  const seen = await seeProcess(pid)
  return seen?.born === born ? seen : null
}

/** Whether anything of the run lives; ends what must not. */
export async function isUnderWay(run: WatchedRun, journal: Claimed, machine: WatchedMachine): Promise<boolean> {
  const shim = await seeShim(journal.claim)
  if (!shim) return isAnythingLeft(run, journal, machine)
  await enforce(run, journal, machine.uptimeSeconds())
  return true
}

async function enforce(run: WatchedRun, journal: Claimed, up: number): Promise<void> {
  const { claim, exit, stopUp, deadline } = journal
  // The server or heir that recorded it was killed before it sent TERM. After the grace, KILL follows without it.
  const isInGrace = deadline !== null || (stopUp !== null && up < stopUp)
  if (!exit && isInGrace && !journal.isTermSent) terminate(run.journalPath, journal)
  const firedUp = deadline?.up ?? fireDeadline(run, journal, up)
  const endsUp = exit ? (exit.up ?? up) + patienceSeconds : Math.min(stopUp ?? never, firedUp + deadlineGraceSeconds)
  if (up < endsUp) return
  await killJob(run.runId, journal)
  if (up < endsUp + aloneSeconds || run.waitsForDisk()) return
  recordCuts(run.journalPath, run.sizes())
  signal(-claim.pid, 'SIGKILL')
}

/** Sends TERM if the fallback deadline is over; answers the uptime at which the grace of the deadline begins. */
function fireDeadline({ journalPath }: WatchedRun, journal: Claimed, up: number): number {
  const dueUp = journal.claim.due ?? never
  if (journal.exit || journal.deadline || journal.stopUp !== null || up < dueUp) return dueUp
  // The record comes first: what the shim writes after the TERM ends the command, and later records do not count.
  let firedUp = up
  try {
    recordDeadline(journalPath, up)
  } catch {
    // A full disk takes no record, and must not keep the job alive: KILL follows as if it had been recorded in time.
    firedUp = dueUp
  }
  terminate(journalPath, journal)
  return firedUp
}

/** TERM to the group of the job. It is recorded afterwards: a kill in between has it sent twice, not never. */
export function terminate(journalPath: string, { session }: Claimed): void {
  const leader = session?.pid
  if (leader !== undefined) {
    // The leader gets its group when it gets its session, shortly after it was recorded.
    if (!signal(-leader, 'SIGTERM')) signal(leader, 'SIGTERM')
    // A stopped process receives TERM when it continues.
    signal(-leader, 'SIGCONT')
  }
  try {
    recordTerm(journalPath)
  } catch {
    // A full disk takes no record: the next look sends it again.
  }
}

/** KILL to all processes of the job that can be found. */
export async function killJob(runId: string, journal: Claimed): Promise<void> {
  const { cgroup } = journal.claim
  if (cgroup !== null) killCgroup(cgroup)
  else await killMembers(runId, journal)
}

/** Of a run whose shim is over. */
async function isAnythingLeft(run: WatchedRun, journal: Claimed, machine: WatchedMachine): Promise<boolean> {
  const isJobLeft = await endJob(run.runId, journal, machine)
  return (await endGroup(journal, machine)) || isJobLeft
}

async function endJob(runId: string, journal: Claimed, { cleared }: WatchedMachine): Promise<boolean> {
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

/** What is left of the shim's own group: its readers, which end with the job. */
async function endGroup({ claim, exit }: Claimed, machine: WatchedMachine): Promise<boolean> {
  if (!signal(-claim.pid, 0)) return false
  const patience = isUnmourned(claim.pid) ? mournedSeconds : dyingSeconds
  if (typeof exit?.up === 'number' && machine.uptimeSeconds() - exit.up < patience) return true
  const members = (await seeAll()).filter((seen) => seen.group === claim.pid)
  if (members.length === 0 || members.some((member) => isForeign(member, claim, exit))) return false
  signal(-claim.pid, 'SIGTERM')
  return true
}

/** The number of a group is free once it is over, and may then name another one. */
function isForeign({ pid, session, born }: ProcessSeen, claim: ShimClaim, exit: Journal['exit']): boolean {
  const bornLater = typeof exit?.up === 'number' && Number(born) > (exit.up + 1) * ticksPerSecond
  return pid === claim.pid || session !== claim.pid || bornLater
}

/** false: none was found. */
async function killMembers(runId: string, { claim, session }: Claimed): Promise<boolean> {
  const since = claim.up === null ? 0 : (claim.up - 1) * ticksPerSecond
  const all = (await seeAll()).filter(({ pid, group, born }) => Number(born) >= since && group !== claim.pid && pid > 1)
  const leader = all.find(({ pid }) => pid === session?.pid)
  const isSame = !leader || leader.born === session?.born
  const isOfSession = (seen: ProcessSeen) => isSame && (seen.session === session?.pid || seen.group === session?.pid)
  const members = all.filter((seen) => isOfSession(seen) || startedWith(seen.pid, `${runIdVariable}=${runId}`))
  for (const { pid } of members) signal(pid, 'SIGKILL')
  return members.length > 0
}
