import { uptime } from 'node:os'
import { type ClaimedJournal, endOrphanedJob, endOverdueJob } from './end-job.ts'
import type { Journal, ShimClaim } from './journal.ts'
import { findProcess, isZombie, listProcesses, type ProcessSeen, sendSignal, ticksPerSecond } from './processes.ts'
import type { RunFiles } from './spool.ts'

/**
 * The server's part of the supervision. Each inspection does what is overdue by the journal: KILL after a grace period,
 * TERM and KILL at the fallback deadline, and the end of a hanging shim.
 */
export interface WatchedMachine {
  bootId: string
  /** Address of this machine; null: other machines cannot reach it. */
  ip: string | null
  nowMs(): number
  /** Runs without a cgroup that had no process at the last inspection. */
  cleared: Set<string>
}

/** Processes that the shim has just killed need this time to die. Before that, the server does not search for them. */
const dyingSeconds = 0.1
/** Time within which a zombie's parent reaps it, even on a busy machine. */
const reapedSeconds = 10
/** true: the grace period of a stop, or the deadline of the run, is over. */
export const isOverdue = ({ claim, exit, stopUp }: Journal, up: number): boolean =>
  claim !== null && exit === null && Math.min(stopUp ?? Infinity, claim.due ?? Infinity) <= up

/** Returns the shim of this claim, if it is alive. */
export async function findShim({ pid, born }: ShimClaim): Promise<ProcessSeen | null> {
  const seen = await findProcess(pid)
  return seen?.born === born ? seen : null
}

/** Ends overdue processes of the run. Returns whether any process of the run is alive. */
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

/**
 * Ends the readers of the output in the process group of a dead shim, which normally end with the job. Returns whether
 * a reader is left.
 */
async function endReaders({ claim, exit }: ClaimedJournal): Promise<boolean> {
  if (!sendSignal(-claim.pid, 0)) return false
  const waitSeconds = isZombie(claim.pid) ? reapedSeconds : dyingSeconds
  if (typeof exit?.up === 'number' && uptime() - exit.up < waitSeconds) return true
  const members = (await listProcesses()).filter((seen) => seen.group === claim.pid)
  if (members.length === 0 || members.some((member) => isForeign(member, claim, exit))) return false
  sendSignal(-claim.pid, 'SIGTERM')
  return true
}

/**
 * true: the process belongs to another group with the same number. A group's number may be reused when the group is
 * empty.
 */
function isForeign({ pid, session, born }: ProcessSeen, claim: ShimClaim, exit: Journal['exit']): boolean {
  const bornLater = typeof exit?.up === 'number' && Number(born) > (exit.up + 1) * ticksPerSecond
  return pid === claim.pid || session !== claim.pid || bornLater
}
