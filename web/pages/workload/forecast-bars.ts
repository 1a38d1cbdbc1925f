import type { Reservation } from '../../features/machines/use-reservations.ts'
import type { JobState } from '../../generated/graphql.ts'
import { nameJob } from '../../parts/server-text.ts'
import type { LineRow, WorkloadPanel } from './use-workload.ts'

/** A bar of the forecast: a job, nodes held for a job, or nodes reserved for a project. */
export interface Bar {
  kind: 'JOB' | 'HOLD' | 'RESERVATION'
  fromMs: number
  /** The end; null: unknown. */
  toMs: number | null
  /** The latest likely start; null: no later start is known. */
  latestStartMs: number | null
}

export interface ForecastRow {
  id: string
  title: string
  who: string
  state: JobState | null
  jobId: string | null
  bars: readonly Bar[]
}

const ms = (at: string) => Date.parse(at)
const secondMs = 1_000

/**
 * Makes the rows of the forecast: running jobs until their maximum run time, waiting jobs from their estimated start, and
 * held or reserved nodes. Waiting jobs without an estimate are left out.
 */
export function listForecast(
  rows: readonly LineRow[],
  {
    holds,
    reservations,
    nowMs,
  }: { holds: WorkloadPanel['pool']['holds']; reservations: readonly Omit<Reservation, 'pool'>[]; nowMs: number },
): readonly ForecastRow[] {
  const holdByJob = new Map(holds.flatMap((hold) => (hold.job ? [[hold.job.id, hold]] : [])))
  const jobs = rows.flatMap((row) => {
    const bar = row.stateCategory === 'ACTIVE' ? runningBar(row, nowMs) : waitingBar(row, nowMs)
    const hold = holdByJob.get(row.id)
    const bars = [...(hold ? [holdBar(hold, bar?.fromMs ?? null, nowMs)] : []), ...(bar ? [bar] : [])]
    if (bars.length === 0) return []
    return [{ id: row.id, title: nameJob(row), who: row.user.name, state: row.state, jobId: row.id, bars }]
  })
  const known = new Set(rows.map(({ id }) => id))
  const hiddenHolds = holds
    .filter(({ job }) => !job || !known.has(job.id))
    .map((hold) => ({
      id: hold.id,
      title: `held: ${listNames(hold.nodes)}`,
      who: hold.job ? nameJob(hold.job) : '',
      state: null,
      jobId: hold.job?.id ?? null,
      bars: [holdBar(hold, null, nowMs)],
    }))
  const reserved = reservations
    .filter(({ endsAt }) => ms(endsAt) > nowMs)
    .map(({ id, name, project, startsAt, endsAt, nodes }) => ({
      id,
      title: `${name}: ${listNames(nodes)}`,
      who: project,
      state: null,
      jobId: null,
      bars: [{ kind: 'RESERVATION' as const, fromMs: ms(startsAt), toMs: ms(endsAt), latestStartMs: null }],
    }))
  return [...reserved, ...hiddenHolds, ...jobs]
}

const namesShown = 3
const listNames = (nodes: readonly { name: string }[]) =>
  nodes
    .slice(0, namesShown)
    .map(({ name }) => name)
    .join(', ') + (nodes.length > namesShown ? ` and ${nodes.length - namesShown} more` : '')

function runningBar({ currentRun, startedAt, createdAt, maxRunTimeSeconds }: LineRow, nowMs: number): Bar {
  const fromMs = ms(currentRun.startedAt ?? startedAt ?? createdAt)
  // A job may still be stopping after its maximum run time, so the bar lasts at least until now.
  const toMs = maxRunTimeSeconds === null ? null : Math.max(fromMs + maxRunTimeSeconds * secondMs, nowMs)
  return { kind: 'JOB', fromMs, toMs, latestStartMs: null }
}

function waitingBar({ scheduling, maxRunTimeSeconds }: LineRow, nowMs: number): Bar | null {
  const { p50, p90, earliest, latest } = scheduling?.estimatedStart ?? {}
  const start = p50 ?? earliest
  if (!start) return null
  const fromMs = Math.max(ms(start), nowMs)
  const last = p50 ? p90 : latest
  const latestStartMs = last && ms(last) > fromMs ? ms(last) : null
  return {
    kind: 'JOB',
    fromMs,
    toMs: maxRunTimeSeconds === null ? null : fromMs + maxRunTimeSeconds * secondMs,
    latestStartMs,
  }
}

function holdBar(
  { since, expectedAt }: WorkloadPanel['pool']['holds'][number],
  startMs: number | null,
  nowMs: number,
): Bar {
  const endMs = startMs ?? (expectedAt === null ? null : ms(expectedAt))
  return { kind: 'HOLD', fromMs: ms(since), toMs: endMs && Math.max(endMs, nowMs), latestStartMs: null }
}
