import { uptime } from 'node:os'
import { signalFromExitCode } from '../backend/exit-code.ts'
import type { Ended, Observation } from '../executor.ts'
import type { Journal } from './journal.ts'
import type { RunFiles } from './spool.ts'
import { superviseRun, type WatchedMachine } from './supervision.ts'

/**
 * Determines the state of a run from its journal and the process table. The exit record proves the end of the command,
 * not a missing pid; but the run is over only when its shim has exited and no process of its job is left.
 */

const KILL = 9
const TERM = 15

export async function judgeRun(
  files: RunFiles,
  readJournal: () => Journal | null,
  machine: WatchedMachine,
): Promise<Observation> {
  const journal = readJournal()
  if (!journal) return { state: 'gone' }
  const { claim, session, exit, stopUp } = journal
  if (!claim) return { state: 'starting' }
  if (claim.pid === 0) {
    if (stopUp !== null) return { state: 'ended', exitCode: 128 + TERM, signal: TERM, stopped: true }
    return { state: 'gone', info: 'The process of the run never began' }
  }
  if (claim.boot !== machine.bootId) {
    if (exit) return describeEnd(journal)
    return { state: 'gone', info: 'The machine was restarted' }
  }
  // The native id is the process group of the job, so that users can signal it.
  const nativeId = session ? { nativeId: String(session.pid) } : {}
  if (await superviseRun(files, { ...journal, claim }, machine))
    return {
      state: 'running',
      ...describeTimes(journal, machine),
      ...nativeId,
      ...(machine.ip !== null && { ip: machine.ip }),
    }
  // The exit record may have been written while the process table was read. Now that all processes are over, no more
  // records follow.
  const last = exit ? journal : (readJournal() ?? journal)
  return { ...describeEnd(last), ...describeTimes(last, machine), ...nativeId }
}

function describeEnd({ exit, stopUp, deadline, used }: Journal): Ended {
  const exitCode = exit?.code ?? 128 + KILL
  const signal = signalFromExitCode(exitCode)
  const ended: Ended = { state: 'ended', exitCode, signal, stopped: stopUp !== null, ...describeUsage(used) }
  if (deadline) return { ...ended, cause: 'MAX_RUN_TIME' }
  if (!exit) return { ...ended, cause: 'SUPERVISOR_KILLED' }
  return used && used.oomKills > 0 && exitCode !== 0 && !ended.stopped ? { ...ended, cause: 'OOM_KILLED' } : ended
}

function describeUsage(used: Journal['used']): Pick<Ended, 'usage'> {
  if (!used) return {}
  const { cpuSeconds, maxMemoryBytes } = used
  return {
    usage: { ...(cpuSeconds !== null && { cpuSeconds }), ...(maxMemoryBytes !== null && { maxMemoryBytes }) },
  }
}

const toMoment = (up: number, machine: WatchedMachine) => new Date(machine.nowMs() - (uptime() - up) * 1000)

function describeTimes({ claim, exit }: Journal, machine: WatchedMachine): Pick<Ended, 'startedAt' | 'finishedAt'> {
  return {
    ...(typeof claim?.up === 'number' && { startedAt: toMoment(claim.up, machine) }),
    ...(typeof exit?.up === 'number' && { finishedAt: toMoment(exit.up, machine) }),
  }
}
