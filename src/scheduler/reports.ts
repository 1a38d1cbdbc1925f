import type { Domain } from '../domain/domain.ts'
import { storeUnsentClosures } from '../domain/inside/closures.ts'
import { rewindRetentionPositions } from '../domain/jobs/finished.ts'
import { markNodesLost } from '../domain/jobs/lost-runs.ts'
import { type RunFacts, storeRunFacts } from '../domain/jobs/run-facts.ts'
import { lockReportedJobs, type ReportedJob, recordLateReport, saveHandles } from '../domain/jobs/runs.ts'
import { type Move, transition } from '../domain/jobs/transition.ts'
import { fence, type Leader, runAsLeader } from '../domain/leadership.ts'
import { lockPool } from '../domain/limits/limits.ts'
import { type ChosenNodes, rebook } from '../domain/machines/rebook.ts'
import { isFinal, type JobState } from '../domain/state.ts'
import { sealLog } from '../logs/append.ts'
import { createBatcher } from '../platform/batch.ts'
import type { Sql } from '../platform/tx.ts'
import { createNodeTroubles } from './count-start-failures.ts'
import { planSteps, type RunReport, toFacts } from './outcome.ts'
import { countMoves, type MovedJob } from './run-metrics.ts'

/**
 * Turns reports of executors into transitions: many in one transaction under the epoch of the leader, each for the
 * current state of its job. A report about a run that is already over becomes only an event.
 */

/** Returns the state of the run; null: the job was removed, or the run was already over. */
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
      countMoves(leader.pool, written.moved)
      await troubles.forget(reports)
      await rebookReported(domain, leader, reports)
      // Facts without an event (RunFacts) cause no wake-up: their readers poll.
      if (written.events > 0) for (const topic of ['event', 'queue', 'log'] as const) domain.wakeups.poke(topic)
      return reports.map((report) => written.states.get(report) ?? null)
    },
  })
}

/**
 * Moves allocations to the nodes that backends report. Uses its own transaction because it locks the pool before the
 * jobs. If it fails, the reports come again from the carriers of the next leader.
 */
async function rebookReported(domain: Domain, leader: Leader, reports: readonly RunReport[]): Promise<void> {
  const chosen = reports.flatMap(({ runId, report }): ChosenNodes[] =>
    report.kind === 'seen' && report.observation.state === 'running' && report.observation.placements?.length
      ? [{ runId, chosen: report.observation.placements }]
      : [],
  )
  if (chosen.length === 0) return
  await runAsLeader(domain, leader, (sql) => rebook(sql, leader.pool, chosen))
  domain.wakeups.poke('queue')
}

interface Writing {
  sql: Sql
  domain: Domain
  leader: Leader
  startAttemptsMax: number
}

interface Written {
  states: Map<RunReport, JobState | null>
  events: number
  moved: MovedJob[]
}

async function write(writing: Writing, reports: readonly RunReport[]): Promise<Written> {
  const { sql, leader } = writing
  await fence(sql, leader)
  // Lock order: the pool before its jobs.
  if (reports.some(isLoss)) await lockPool(sql, leader.pool)
  const written: Written = { states: new Map(), events: 0, moved: [] }
  for (const round of splitIntoRounds(reports)) await writeRound(writing, round, written)
  return written
}

/**
 * Splits reports so that each transaction has at most one per job: the next report needs the result of the one before.
 */
function splitIntoRounds(reports: readonly RunReport[]): RunReport[][] {
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
  for (const jobId of await storeUnsentClosures(sql, reports.flatMap(listUnsentClosures)))
    Object.assign(jobs.get(jobId) ?? {}, saved)
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
    if (late) written.events += await recordLate(sql, report)
    const steps = job && !late ? planMoves(job, report, startAttemptsMax) : []
    moves.push(steps)
    written.events += steps.length
    if (steps.some(endsRun)) over.push(report.runId)
    if (job && !late && steps.length === 0) facts.push(...listFacts(report))
    written.states.set(report, job && !late ? (steps.at(-1)?.to ?? job.state) : null)
  }
  written.moved.push(...listMoved(jobs, reports, moves))
  await storeRunFacts(sql, facts)
  await storeLosses({ sql, leader }, reports, moves)
  await sealLog(sql, over)
  await transition(sql, listStepsAt(0, moves), domain.time.nowMs())
  await transition(sql, listStepsAt(1, moves), domain.time.nowMs())
  await rewindRetentionPositions(sql, moves.flat(), domain.time.nowMs())
}

const listMoved = (
  jobs: ReadonlyMap<string, ReportedJob>,
  reports: readonly RunReport[],
  moves: readonly Move[][],
): MovedJob[] =>
  reports.flatMap(({ jobId }, index) => {
    const job = jobs.get(jobId)
    return job ? [{ job, steps: moves[index] ?? [] }] : []
  })

const listStepsAt = (place: 0 | 1, moves: readonly Move[][]) => moves.flatMap((steps) => steps[place] ?? [])

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

function listUnsentClosures({ runId, report }: RunReport): { runId: string; text: string }[] {
  if (report.kind !== 'seen') return []
  const { observation } = report
  const hasEnded = observation.state === 'ended' || observation.state === 'gone'
  return hasEnded && observation.unsentClosure !== undefined ? [{ runId, text: observation.unsentClosure }] : []
}

const endsRun = ({ to }: Move): boolean => to === 'QUEUED' || isFinal(to)
const isLate = (job: ReportedJob, { number }: RunReport): boolean => job.run !== number || isFinal(job.state)

function listFacts({ runId, report }: RunReport): RunFacts[] {
  if (report.kind !== 'seen') return []
  const { observation } = report
  const info = observation.state === 'starting' ? { info: observation.info ?? '' } : {}
  const facts = { ...toFacts(observation), ...info }
  return Object.keys(facts).length > 0 ? [{ runId, ...facts }] : []
}

function planMoves(job: ReportedJob, { jobId, number, report }: RunReport, startAttemptsMax: number): Move[] {
  let from = job.state
  return planSteps(job, report, startAttemptsMax).map((step) => {
    const move = { jobId, run: number, from, ...step }
    from = step.to
    return move
  })
}

async function recordLate(sql: Sql, { jobId, number, report }: RunReport): Promise<number> {
  const what = report.kind === 'seen' ? report.observation.state : report.kind
  if (what === 'starting' || what === 'running') return 0
  await recordLateReport(sql, { jobId, run: number, message: `Run ${number} was over when it was reported as ${what}` })
  return 1
}
