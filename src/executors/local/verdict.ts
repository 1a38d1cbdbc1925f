import type { Ended, Observation } from '../executor.ts'
import type { Claim, Journal } from './journal.ts'
import { seeGroup, seeProcess, signalGroup } from './processes.ts'

/**
 * What a journal and the process table say of a run. The exit record counts, not the pid; but a run is over only when
 * its whole group is. Where the shim is gone and part of its group is not (somebody killed the shim alone), that part is
 * killed here: nobody could tell any more how it ends.
 */
export interface Machine {
  bootId: string
  /** Since the last boot. */
  uptimeSeconds(): number
  /** Of the database. */
  nowMs(): number
}

const KILL = 9
const TERM = 15

export async function verdictOf(read: () => Journal | null, machine: Machine): Promise<Observation> {
  const journal = read()
  if (!journal) return { state: 'gone' }
  const { claim, exit, stopUp } = journal
  if (!claim) return { state: 'starting' }
  if (claim.pid === 0) {
    if (stopUp !== null) return { state: 'ended', exitCode: 128 + TERM, signal: TERM, stopped: true }
    return { state: 'gone', info: 'Its process never began' }
  }
  if (claim.boot !== machine.bootId) {
    if (exit) return outcomeOf(journal)
    return { state: 'gone', info: 'The machine was restarted' }
  }
  const nativeId = String(claim.pid)
  if (await isGroupAlive(claim, exit?.up ?? null, machine))
    return { state: 'running', ...startOf(journal, machine), nativeId }
  // The exit record may have come while the processes were looked at; now that all are over none can come any more.
  const last = exit ? journal : (read() ?? journal)
  return { ...outcomeOf(last), ...startOf(last, machine), ...finishOf(last, machine), nativeId }
}

/** The wait status of a shell does not tell `exit 143` from a death by TERM: 129 to 192 count as signals. */
function outcomeOf({ exit, stopUp, deadlineFired }: Journal): Ended {
  const exitCode = exit?.code ?? 128 + KILL
  const signal = exitCode > 128 && exitCode <= 192 ? exitCode - 128 : null
  const cause = deadlineFired ? { cause: 'MAX_RUN_TIME' as const } : {}
  return { state: 'ended', exitCode, signal, stopped: stopUp !== null, ...cause }
}

const moment = (up: number, machine: Machine) => new Date(machine.nowMs() - (machine.uptimeSeconds() - up) * 1000)

function startOf({ claim }: Journal, machine: Machine): { startedAt?: Date } {
  return typeof claim?.up === 'number' ? { startedAt: moment(claim.up, machine) } : {}
}

function finishOf({ exit }: Journal, machine: Machine): { finishedAt?: Date } {
  return typeof exit?.up === 'number' ? { finishedAt: moment(exit.up, machine) } : {}
}

export async function isShimAlive({ pid, born }: Claim): Promise<boolean> {
  return (await seeProcess(pid))?.born === born
}

/** The last act of a shim needs a moment to take effect; only a group that outlives it is looked at one by one. */
const dyingSeconds = 0.1

async function isGroupAlive(claim: Claim, exitUp: number | null, machine: Machine): Promise<boolean> {
  if (await isShimAlive(claim)) return true
  if (!signalGroup(claim.pid, 0)) return false
  if (exitUp !== null && machine.uptimeSeconds() - exitUp < dyingSeconds) return true
  const members = await seeGroup(claim.pid)
  if (members.length === 0 || members.some((member) => isForeign(member, claim, exitUp))) return false
  signalGroup(claim.pid, 'SIGKILL')
  return true
}

/** The number of the group is free once the group is over, and may then name another one. */
function isForeign(
  member: { pid: number; session: number; born: string },
  claim: Claim,
  exitUp: number | null,
): boolean {
  const ticksPerSecond = 100
  const bornLater = exitUp !== null && Number(member.born) > (exitUp + 1) * ticksPerSecond
  return member.pid === claim.pid || member.session !== claim.pid || bornLater
}
