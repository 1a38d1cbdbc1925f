import type { Domain } from '../domain/domain.ts'
import { storeUnsent } from '../domain/inside/closures.ts'
import { rewindForLateEnds } from '../domain/jobs/finished.ts'
import { markNodesLost } from '../domain/jobs/lost-runs.ts'
import { type RunFacts, storeRunFacts } from '../domain/jobs/run-facts.ts'
import { lockReportedJobs, type ReportedJob, recordLateReport, saveHandles } from '../domain/jobs/runs.ts'
import { type Move, transition } from '../domain/jobs/transition.ts'
import { fence, type Leader } from '../domain/leadership.ts'
import { lockPool } from '../domain/limits/limits.ts'
import { isFinal, type JobState } from '../domain/state.ts'
import type { Handle } from '../executors/executor.ts'
import { sealLog } from '../logs/append.ts'
import { createBatcher } from '../platform/batch.ts'
import type { Sql } from '../platform/tx.ts'
import { rebookReported } from './allocation-moves.ts'
import { createNodeTroubles } from './node-troubles.ts'
import { planSteps, type Report, toFacts } from './outcome.ts'

/**
 * Turns reports of executors into moves: many in one transaction, under the leader's epoch, each decided against the
 * present job. A report about a run that is over is stored as an event and changes nothing else.
 */

export interface RunReport {
  runId: string
  jobId: string
  number: number
  /** The handle from `start`, stored with the report. */
  handle?: Handle
  report: Report
}

/** State of the run after the report; null: the job was removed, or the run was over before. */
export type Reporter = (report: RunReport) => Promise<JobState | null>

const batchMax = 100

export function createReporter(domain: Domain, leader: Leader, startAttemptsMax: number): Reporter {
  const troubles = createNodeTroubles(domain, leader)
  return createBatcher<RunReport, JobState | null>({
    max: batchMax,
    mayBeOneItem: () => false,
    run: async (reports) => {
      await troubles.count(reports)
      const written = await domain.db.transaction((sql) => write({ sql, domain, leader, startAttemptsMax }, reports))
      await troubles.forget(reports)
      await rebookReported(domain, leader, reports)
      // Data beside the state of a run is polled by its readers, and changes nothing for the planner.
      if (written.events > 0) for (const topic of ['event', 'queue', 'log'] as const) domain.wakeups.poke(topic)
      return reports.map((report) => written.states.get(report) ?? null)
    },
  })
}

interface Writing {
  sql: Sql
  domain: Domain
  leader: Leader
  startAttemptsMax: number
}

interface Written {
  states: Map<RunReport, JobState | null>
  /** Number of events that were stored. */
  events: number
}

async function write(writing: Writing, reports: readonly RunReport[]): Promise<Written> {
  const { sql, leader } = writing
  await fence(sql, leader)
  // A pool is locked before its jobs.
  if (reports.some(isLoss)) await lockPool(sql, leader.pool)
  const written: Written = { states: new Map(), events: 0 }
  for (const round of rounds(reports)) await writeRound(writing, round, written)
  return written
}

/** At most one report per job and round; the next round sees the result of the last one. */
function rounds(reports: readonly RunReport[]): RunReport[][] {
  const byJob = Map.groupBy(reports, ({ jobId }) => jobId)
  const longest = Math.max(...[...byJob.values()].map((each) => each.length))
  return Array.from({ length: longest }, (_, at) => [...byJob.values()].flatMap((each) => each[at] ?? []))
}

async function writeRound(
  { sql, domain, leader, startAttemptsMax }: Writing,
  reports: readonly RunReport[],
  written: Written,
) {
  const jobs = await lockReportedJobs(
    sql,
    reports.map(({ jobId }) => jobId),
  )
  for (const jobId of await storeUnsent(sql, reports.flatMap(unsentOf))) Object.assign(jobs.get(jobId) ?? {}, saved)
  await saveHandles(
    sql,
    reports.flatMap(({ runId, handle }) => (handle ? [{ runId, handle }] : [])),
  )
  const moves: Move[][] = []
  const over: string[] = []
  const facts: RunFacts[] = []
  for (const report of reports) {
    const job = jobs.get(report.jobId)
    const late = job !== undefined && isLate(job, report)
    if (late) written.events += await keepLate(sql, report)
    const steps = job && !late ? movesOf(job, report, startAttemptsMax) : []
    moves.push(steps)
    written.events += steps.length
    if (steps.some(endsRun)) over.push(report.runId)
    if (job && !late && steps.length === 0) facts.push(...factsIn(report))
    written.states.set(report, job && !late ? (steps.at(-1)?.to ?? job.state) : null)
  }
  await storeRunFacts(sql, facts)
  await storeLosses({ sql, leader }, reports, moves)
  await sealLog(sql, over)
  await transition(
    sql,
    moves.flatMap((steps) => steps[0] ?? []),
    domain.time.nowMs(),
  )
  await transition(
    sql,
    moves.flatMap((steps) => steps[1] ?? []),
    domain.time.nowMs(),
  )
  await rewindForLateEnds(sql, moves.flat(), domain.time.nowMs())
}

async function storeLosses(
  { sql, leader }: Pick<Writing, 'sql' | 'leader'>,
  reports: readonly RunReport[],
  moves: readonly Move[][],
): Promise<void> {
  for (const [index, each] of reports.entries())
    if (isLoss(each) && moves[index]?.length) await markNodesLost(sql, leader.pool, each.runId)
}

const isLoss = ({ report }: RunReport): boolean => report.kind === 'lost'

const saved = { hasClosure: true } satisfies Partial<ReportedJob>

function unsentOf({ runId, report }: RunReport): { runId: string; text: string }[] {
  if (report.kind !== 'seen') return []
  const { observation } = report
  const hasEnded = observation.state === 'ended' || observation.state === 'gone'
  return hasEnded && observation.unsentClosure !== undefined ? [{ runId, text: observation.unsentClosure }] : []
}

const endsRun = ({ to }: Move): boolean => to === 'QUEUED' || isFinal(to)
const isLate = (job: ReportedJob, { number }: RunReport): boolean => job.run !== number || isFinal(job.state)

/** Data of a report that moves no run. */
function factsIn({ runId, report }: RunReport): RunFacts[] {
  if (report.kind !== 'seen') return []
  const { observation } = report
  const info = observation.state === 'starting' ? { info: observation.info ?? '' } : {}
  const told = { ...toFacts(observation), ...info }
  return Object.keys(told).length > 0 ? [{ runId, ...told }] : []
}

function movesOf(job: ReportedJob, { jobId, number, report }: RunReport, startAttemptsMax: number): Move[] {
  let from = job.state
  return planSteps(job, report, startAttemptsMax).map((step) => {
    const move = { jobId, run: number, from, ...step }
    from = step.to
    return move
  })
}

/** Returns the number of events. */
async function keepLate(sql: Sql, { jobId, number, report }: RunReport): Promise<number> {
  const what = report.kind === 'seen' ? report.observation.state : report.kind
  if (what === 'starting' || what === 'running') return 0
  await recordLateReport(sql, { jobId, run: number, message: `Run ${number} was over when it was reported as ${what}` })
  return 1
}
