import type { JobState } from '../../generated/graphql.ts'
import { formatBytes, formatDuration } from '../../parts/format.ts'
import { describeReason, stateWords } from '../../parts/states.ts'

interface Ended {
  state: JobState
  stateReason: string | null
  exitCode: number | null
  finishedAt: string | null
  attempt: number
  currentRun: { nodeNames: readonly string[]; startedAt: string | null }
}

interface Limits {
  memoryBytes: number
  maxRunTimeSeconds: number | null
}

const signalBase = 128
const signalNames: Readonly<Record<number, string>> = {
  1: 'HUP',
  2: 'INT',
  3: 'QUIT',
  4: 'ILL',
  6: 'ABRT',
  7: 'BUS',
  8: 'FPE',
  9: 'KILL',
  11: 'SEGV',
  13: 'PIPE',
  15: 'TERM',
}

/** Exit code 137 → "signal 9 (KILL)"; null: the exit code means no signal. */
function nameSignal(exitCode: number | null): string | null {
  if (exitCode === null || exitCode <= signalBase) return null
  const name = signalNames[exitCode - signalBase]
  return name ? `signal ${exitCode - signalBase} (${name})` : null
}

function describeCause({ stateReason, exitCode }: Ended, limits: Limits | null): string | null {
  if (stateReason === 'OOM_KILLED')
    return `killed because it needed more memory than ${limits ? formatBytes(limits.memoryBytes) : 'it has'}`
  if (stateReason === 'MAX_RUN_TIME')
    return `stopped at its limit of ${limits?.maxRunTimeSeconds ? formatDuration(limits.maxRunTimeSeconds * 1_000) : 'run time'}`
  if (stateReason === 'SIGNAL') return `killed by ${nameSignal(exitCode) ?? 'a signal'}`
  if (stateReason === null || stateReason === 'EXIT_CODE' || stateReason === 'CANCELLED') return null
  return describeReason(stateReason)
}

/** Describes in one sentence how a job ended, why, where and after what time. */
export function describeOutcome(job: Ended, limits: Limits | null): string {
  const { state, stateReason, exitCode, finishedAt, attempt } = job
  const { nodeNames, startedAt } = job.currentRun
  const signal = nameSignal(exitCode)
  const code =
    exitCode === null || state === 'CANCELLED' || stateReason === 'SIGNAL'
      ? null
      : `exit code ${exitCode}${signal ? `, ${signal}` : ''}`
  const cause = [describeCause(job, limits), code].filter(Boolean).join(', ')
  const place = nodeNames.length > 0 ? ` on ${nodeNames.join(', ')}` : ''
  const lasted =
    startedAt && finishedAt
      ? ` after ${formatDuration(Date.parse(finishedAt) - Date.parse(startedAt))}`
      : ' before it started'
  const runs = attempt > 1 ? ` in run ${attempt}` : ''
  return `${stateWords[state]}${place}${lasted}${runs}${cause === '' ? '' : `: ${cause}`}.`
}
