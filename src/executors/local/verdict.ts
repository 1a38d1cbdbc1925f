import { signalFromExitCode } from '../backend/exit-code.ts'
import type { Ended, Observation } from '../executor.ts'
import type { Journal } from './journal.ts'
import { isUnderWay, type WatchedMachine, type WatchedRun } from './watch.ts'

/**
 * The state of a run by its journal and the process table. The exit record counts, not the pid; but a run is over only
 * when its shim is over and nothing of its job is left.
 */

const KILL = 9
const TERM = 15

export async function verdictOf(run: WatchedRun, machine: WatchedMachine): Promise<Observation> {
  const journal = run.read()
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
  const nativeId = nativeIdOf(journal)
  if (await isUnderWay(run, { ...journal, claim }, machine))
    return {
      state: 'running',
      ...startOf(journal, machine),
      ...nativeId,
      ...(machine.ip !== null && { ip: machine.ip }),
    }
  // The exit record may have come while the processes were read; now that all are over, none can come any more.
  const last = exit ? journal : (run.read() ?? journal)
  return { ...outcomeOf(last), ...startOf(last, machine), ...finishOf(last, machine), ...nativeId }
}

/** The process that people may signal: the leader of the process group of the job. */
function nativeIdOf({ session }: Journal): { nativeId?: string } {
  return session ? { nativeId: String(session.pid) } : {}
}

function outcomeOf({ exit, stopUp, deadline, used }: Journal): Ended {
  const exitCode = exit?.code ?? 128 + KILL
  const signal = signalFromExitCode(exitCode)
  const ended: Ended = { state: 'ended', exitCode, signal, stopped: stopUp !== null, ...usageOf(used) }
  if (deadline) return { ...ended, cause: 'MAX_RUN_TIME' }
  if (!exit) return { ...ended, cause: 'SUPERVISOR_KILLED' }
  return used && used.oomKills > 0 && exitCode !== 0 && !ended.stopped ? { ...ended, cause: 'OOM_KILLED' } : ended
}

function usageOf(used: Journal['used']): Pick<Ended, 'usage'> {
  if (!used) return {}
  const { cpuSeconds, maxMemoryBytes } = used
  return {
    usage: { ...(cpuSeconds !== null && { cpuSeconds }), ...(maxMemoryBytes !== null && { maxMemoryBytes }) },
  }
}

const moment = (up: number, machine: WatchedMachine) =>
  new Date(machine.nowMs() - (machine.uptimeSeconds() - up) * 1000)

function startOf({ claim }: Journal, machine: WatchedMachine): { startedAt?: Date } {
  return typeof claim?.up === 'number' ? { startedAt: moment(claim.up, machine) } : {}
}

function finishOf({ exit }: Journal, machine: WatchedMachine): { finishedAt?: Date } {
  return typeof exit?.up === 'number' ? { finishedAt: moment(exit.up, machine) } : {}
}
