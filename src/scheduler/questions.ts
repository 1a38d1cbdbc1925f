import { basePriority } from '../domain/access.ts'
import type { Domain } from '../domain/domain.ts'
import { Refusal } from '../domain/errors.ts'
import { findInteractiveElsewhere } from '../domain/jobs/one-interactive.ts'
import { computeCountedBid, makeLane } from '../domain/lanes.ts'
import { Fenced, type Leader, runAsLeader } from '../domain/leadership.ts'
import { listChosen } from '../domain/machines/placement.ts'
import { findClosedGate } from '../domain/queue/gates.ts'
import type { Processed } from '../domain/queue/plan-pools.ts'
import { computePositionIfAdded } from '../domain/queue/position.ts'
import { answerQuestion, lockOpenQuestion, type OpenQuestion } from '../domain/queue/questions.ts'
import { makeReason } from '../domain/reason.ts'
import type { AskedJob, PreviewAnswer } from '../domain/submission/preview.ts'
import { readSubmission } from '../domain/submission/submission.ts'
import { type NoWaitAnswer, type NoWaitQuestion, restoreViewer } from '../domain/submission/submit.ts'
import { submitInTransaction } from '../domain/submission/submit-group.ts'
import type { Sql } from '../platform/tx.ts'
import type { Start, Verdict, Waiting } from './plan/model.ts'
import type { Candidate } from './plan/trial.ts'
import type { World } from './plan/world.ts'
import type { Planner } from './planner.ts'
import { isAlreadyTaken, lockPoolAt, startRuns } from './stored/committing.ts'

/**
 * Answers questions to the leader, each in one transaction under its epoch. For NO_WAIT this transaction submits and
 * starts the job, or is rolled back. It is READ COMMITTED, unlike other submissions, which are SERIALIZABLE: the
 * submission lock already serialises submissions. If changes from before the lock have not been read, the leader reads
 * them and tries again.
 */

export interface Answering {
  /** Wakes the loop that answers questions for forecasts. */
  answerForecasts: () => void
  domain: Domain
  leader: Leader
  planner: Planner
  pass: Processed | null
}

export async function answerQuestions(answering: Answering, questions: readonly OpenQuestion[]): Promise<void> {
  const { domain, leader } = answering
  for (const question of questions) {
    try {
      await answer(answering, question)
    } catch (error) {
      if (error instanceof Fenced) throw error
      // A failing question must not delay other questions; its client gives up at the deadline.
      domain.log.error({ err: error, pool: leader.pool, question: question.id }, 'a question was not answered')
    }
  }
  if (questions.length > 0) domain.wakeups.poke('answer')
}

async function answer(answering: Answering, { id, kind, payload }: OpenQuestion): Promise<void> {
  switch (kind) {
    case 'PREVIEW':
      return write(answering, id, await previewStart(answering, payload as AskedJob))
    case 'NO_WAIT':
      return startNow(answering, { id, ...(payload as NoWaitQuestion) })
    case 'PASS':
      return answering.pass ? write(answering, id, answering.pass) : undefined
    case 'FORECAST':
      return answering.answerForecasts()
    default:
      return kind satisfies never
  }
}

function write({ domain, leader }: Answering, id: string, said: unknown): Promise<void> {
  return runAsLeader(domain, leader, (sql) => answerQuestion(sql, id, said))
}

// ── preview ──

async function previewStart({ domain, leader, planner }: Answering, asked: AskedJob): Promise<PreviewAnswer> {
  const candidate = makeCandidate(leader.pool, asked)
  const [gate, position] = await Promise.all([
    findClosedGate(domain.db.sql, asked.spec),
    computePositionIfAdded(domain.db.sql, candidate.lane, candidate.entry.bid),
  ])
  if (gate) return { wouldBe: 'QUEUED', place: null, reasons: [gate], position, preempts: [] }
  const world = await planner.hear()
  const found = await tryHereAndElsewhere(domain.db.sql, world, candidate)
  if (!found.start) {
    const { becomes, reason, preempts = [] } = found
    return { wouldBe: becomes, place: null, reasons: [reason], position, preempts }
  }
  const { start } = found
  return {
    wouldBe: 'STARTING',
    place: { ...listChosen(start.placements), atMs: world.state.nowMs },
    reasons: [],
    position,
    preempts: [],
  }
}

const lastInLine = Number.MAX_SAFE_INTEGER

export function makeCandidate(pool: string, asked: AskedJob, stored?: { jobId: string; runId: string }): Candidate {
  const { spec, userId, userName, teamId, shareAccount: account, level } = asked
  const lane = makeLane({ pool, userId, teamId, account, spec, basePriority: basePriority[level], override: null })
  const entry: Waiting = {
    jobId: stored?.jobId ?? '',
    runId: stored?.runId ?? '',
    laneId: lane.id,
    run: 1,
    bid: spec.bid ?? 0,
    sequence: lastInLine,
    sinceMs: 0,
  }
  return { lane, userName, team: spec.team, entry }
}

function tryOut(world: World, candidate: Candidate): Verdict {
  const { lane, entry } = candidate
  const bid = computeCountedBid(world.state.settings.policy, { interactive: lane.interactive, bid: entry.bid })
  return world.tryOut({ ...candidate, entry: { ...entry, bid, sinceMs: world.state.nowMs } })
}

/** Also checks the other pools, because a user may have only one interactive run over all pools. */
async function tryHereAndElsewhere(sql: Sql, world: World, candidate: Candidate): Promise<Verdict> {
  const verdict = tryOut(world, candidate)
  const { lane, entry } = candidate
  if (!verdict.start || !lane.interactive) return verdict
  const { refused, waiting } = await findInteractiveElsewhere(sql, [{ jobId: entry.jobId, userId: lane.userId }])
  const info = refused.get(entry.jobId)
  if (info) return { start: null, reason: makeReason('INTERACTIVE_QUOTA', info), becomes: 'FAILED' }
  return waiting.length === 0 ? verdict : { start: null, reason: runElsewhereEnds, becomes: 'QUEUED' }
}

const runElsewhereEnds = makeReason(
  'INTERACTIVE_QUOTA',
  'Waiting for an interactive job in another pool to end: each user may run one at a time',
)

// ── no wait ──

class NotNow extends Error {
  override name = 'NotNow'
  readonly answer: NoWaitAnswer
  constructor(answer: NoWaitAnswer) {
    super('The job cannot start now')
    this.answer = answer
  }
}

class Unheard extends Error {
  override name = 'Unheard'
}

const attemptsMax = 5

async function startNow(answering: Answering, question: NoWaitQuestion & { id: string }): Promise<void> {
  const { domain, planner } = answering
  for (let look = 1; ; look++) {
    try {
      return await submitAndStart(answering, question)
    } catch (error) {
      if (error instanceof Unheard && look < attemptsMax) {
        await planner.pass(1)
        continue
      }
      const said = answerTo(error)
      // Without an answer, the transaction may have been committed, and the world may be outdated.
      if (!said) planner.forget()
      if (!said && !isAlreadyTaken(error)) throw error
      return answerQuestion(domain.db.sql, question.id, said ?? { changed: true })
    }
  }
}

function answerTo(error: unknown): NoWaitAnswer | null {
  if (error instanceof NotNow) return error.answer
  return error instanceof Refusal || error instanceof Unheard ? { changed: true } : null
}

async function submitAndStart(answering: Answering, question: NoWaitQuestion & { id: string }): Promise<void> {
  const { domain, leader, planner } = answering
  const world = await planner.hear()
  const start = await domain.db.transaction(async (sql) => {
    if (!(await lockPoolAt(sql, leader, world.state.settings.revision))) throw new Unheard()
    if (!(await lockOpenQuestion(sql, question.id))) return null
    const { candidate, warnings } = await submitOne({ sql, domain, leader }, question)
    const { entry, lane } = candidate
    if (await isUnheard(sql, leader.pool, entry.jobId)) throw new Unheard()
    const found = await tryStored(sql, world, candidate)
    if (!found.start) throw new NotNow({ rejected: [found.reason] })
    const taken: Start = { lane, entry, ...found.start }
    const sinceMs = (await startRuns(sql, [taken], domain.time.nowMs())).get(entry.jobId)
    if (sinceMs === undefined) throw new NotNow({ changed: true })
    await answerQuestion(sql, question.id, { started: { jobId: entry.jobId, warnings } } satisfies NoWaitAnswer)
    return { taken, sinceMs }
  })
  if (!start) return
  world.started(start.taken, start.sinceMs)
  for (const topic of ['event', 'start'] as const) domain.wakeups.poke(topic)
}

interface Submitted {
  candidate: Candidate & { spec: AskedJob['spec'] }
  warnings: string[]
}

async function submitOne(
  { sql, domain, leader }: { sql: Sql; domain: Domain; leader: Leader },
  question: NoWaitQuestion,
): Promise<Submitted> {
  const viewer = restoreViewer(question)
  const [decision] = await submitInTransaction(domain, sql, [
    readSubmission(viewer, question.input, domain.time.nowMs()),
  ])
  if (!decision || !('job' in decision) || decision.job.pool !== leader.pool || decision.job.approval)
    throw new NotNow({ changed: true })
  const { job, warnings } = decision
  const { userId, userName, level } = viewer
  const { spec, teamId, shareAccount } = job
  const asked = { spec, teamId, shareAccount, userId, userName, level }
  const candidate = makeCandidate(leader.pool, asked, { jobId: job.id, runId: job.runId })
  return { candidate: { ...candidate, spec: job.spec }, warnings }
}

async function tryStored(sql: Sql, world: World, { spec, ...candidate }: Submitted['candidate']): Promise<Verdict> {
  const gate = await findClosedGate(sql, spec)
  return gate ? { start: null, reason: gate, becomes: 'QUEUED' } : tryHereAndElsewhere(sql, world, candidate)
}

async function isUnheard(sql: Sql, pool: string, jobId: string): Promise<boolean> {
  const rows = await sql.query(
    'SELECT 1 FROM pool_change WHERE pool = $1 AND job_id IS DISTINCT FROM $2 LIMIT 1',
    [pool, jobId],
    'is_unheard',
  )
  return rows.length > 0
}
