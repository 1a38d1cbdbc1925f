import type { Domain } from '../domain/domain.ts'
import { Refusal } from '../domain/errors.ts'
import { lockPool } from '../domain/limits.ts'
import { answerQuestion, holdQuestion, type OpenQuestion, openQuestions } from '../domain/questions.ts'
import { standingOf } from '../domain/queue.ts'
import { blockedBy, limitedBy, noCapacity, type Reason, unsatisfiable } from '../domain/reason.ts'
import { inWords, shapeOf } from '../domain/shape.ts'
import type { JobSpec } from '../domain/spec.ts'
import {
  type AskedJob,
  type DryRunAnswer,
  type NoWaitAnswer,
  type NoWaitQuestion,
  viewerWho,
} from '../domain/start-now.ts'
import { readSubmission } from '../domain/submission.ts'
import { submitInTransaction } from '../domain/submit.ts'
import { Fenced, fence } from '../platform/leadership.ts'
import type { Sql } from '../platform/tx.ts'
import { findPlace, type Place, plan, type Verdict, type WaitingJob } from './plan.ts'
import { fromTheBeginning, type Leader, readRoom, readWaiting, startRuns } from './tick.ts'

/**
 * The leader's answers, after a pass, each in one transaction under its epoch. A job at the end of the line would start
 * now when `plan`, having gone over everybody who waits, still finds room for it.
 *
 * NO_WAIT submits and starts in that transaction, or leaves nothing behind. It is READ COMMITTED and not SERIALIZABLE
 * like other submissions: the gate alone keeps submissions apart, and limits that were set while it waited for the row of
 * the pool must be seen.
 */
export async function answerQuestions(domain: Domain, leader: Leader): Promise<number> {
  const questions = await openQuestions(domain, leader.pool)
  for (const question of questions) {
    try {
      await answer(domain, leader, question)
    } catch (error) {
      if (error instanceof Fenced) throw error
      // One question that cannot be answered must not keep the others waiting; its asker gives up at the deadline.
      domain.log.error({ err: error, pool: leader.pool, question: question.id }, 'a question was not answered')
    }
  }
  if (questions.length > 0) domain.wakeups.poke('answer')
  return questions.length
}

async function answer(domain: Domain, leader: Leader, { id, kind, payload }: OpenQuestion): Promise<void> {
  switch (kind) {
    case 'DRY_RUN':
      return domain.db.transaction(async (sql) => {
        await fence(sql, leader.pool, leader.epoch)
        const { spec, ...asked } = payload as AskedJob
        const line = { pool: leader.pool, spec, job: candidateOf({ spec, ...asked }, null) }
        await answerQuestion(sql, id, shown(await tryOut(domain, sql, line)))
      })
    case 'NO_WAIT':
      return startNow(domain, leader, { id, ...(payload as NoWaitQuestion) })
    default:
      return kind satisfies never
  }
}

interface Trial {
  place: Place | null
  reasons: Reason[]
  position: number
}

async function tryOut(domain: Domain, sql: Sql, { pool, spec, job }: Line): Promise<Trial> {
  const { position, gate } = await standingOf(sql, pool, spec)
  if (gate) return { place: null, reasons: [gate], position }
  const verdict = await atTheEnd(domain, sql, { pool, job })
  return { place: verdict.place, reasons: verdict.place ? [] : [verdict.reason], position }
}

function shown({ place, reasons, position }: Trial): DryRunAnswer {
  if (!place) return { place, reasons, position }
  const nodes = [...new Set(place.placements.map(({ node }) => node))]
  return { place: { nodes, gpuIds: place.placements.flatMap(({ gpuIds }) => gpuIds) }, reasons, position }
}

interface Line {
  pool: string
  spec: JobSpec
  job: Candidate
}

/** `jobId` null: it is not stored. */
type Candidate = Omit<WaitingJob, 'jobId' | 'runId' | 'run' | 'version'> & { jobId: string | null }

function candidateOf({ spec, teamId, userId, userName }: AskedJob, jobId: string | null): Candidate {
  const shape = shapeOf(spec.resources)
  const { team, queue, project } = spec
  return { jobId, userId, userName, teamId, team, queue, project, gpu: shape.gpu * shape.copies, shape }
}

/** Where the job would go once everybody before it has had their turn, or why it would not start. */
async function atTheEnd(
  domain: Domain,
  sql: Sql,
  { pool, job }: Omit<Line, 'spec'>,
): Promise<{ place: Place } | { place: null; reason: Reason }> {
  let room = await readRoom(sql, domain, pool)
  let after = fromTheBeginning
  for (;;) {
    const page = await readWaiting(sql, room, after)
    const waiting = page.waiting.filter(({ jobId }) => jobId !== job.jobId)
    const { left, blockedBy: ahead } = plan({ ...room, waiting }, waiting.length + 1)
    room = left
    after = page.waiting.at(-1)?.sequence ?? after
    if (ahead) return { place: null, reason: reasonOf(findPlace(job, room), job) ?? blockedBy(ahead) }
    if (!page.isLast) continue
    const verdict = findPlace(job, room)
    return verdict.place ? verdict : { place: null, reason: reasonOf(verdict, job) ?? noCapacity(inWords(job.shape)) }
  }
}

/** What would hold the job back whoever else waits; null: nothing but capacity. */
function reasonOf(verdict: Verdict, { shape }: Candidate): Reason | null {
  if (verdict.place || verdict.why === 'NO_CAPACITY') return null
  return verdict.why === 'UNSATISFIABLE' ? unsatisfiable(inWords(shape)) : limitedBy(verdict.why)
}

/** Takes everything back that the transaction has written. */
class NotNow extends Error {
  override name = 'NotNow'
  readonly answer: NoWaitAnswer
  constructor(answer: NoWaitAnswer) {
    super('The job does not start now')
    this.answer = answer
  }
}

async function startNow(domain: Domain, leader: Leader, question: NoWaitQuestion & { id: string }): Promise<void> {
  try {
    await domain.db.transaction(async (sql) => {
      await fence(sql, leader.pool, leader.epoch)
      if (!(await holdQuestion(sql, question.id))) return
      const started = await submitAndStart(domain, sql, { pool: leader.pool, question })
      await answerQuestion(sql, question.id, { started } satisfies NoWaitAnswer)
    })
    for (const topic of ['event', 'run']) domain.wakeups.poke(topic)
  } catch (error) {
    const answer =
      error instanceof NotNow ? error.answer : error instanceof Refusal ? ({ changed: true } as const) : null
    if (!answer) throw error
    await answerQuestion(domain.db.sql, question.id, answer)
  }
}

async function submitAndStart(
  domain: Domain,
  sql: Sql,
  { pool, question }: { pool: string; question: NoWaitQuestion },
): Promise<{ jobId: string; warnings: string[] }> {
  const nowMs = domain.clock.now()
  const viewer = viewerWho(question)
  const [decision] = await submitInTransaction(domain, sql, [readSubmission(viewer, question.input, nowMs)])
  if (!decision || !('job' in decision) || decision.job.pool !== pool || decision.job.approval)
    throw new NotNow({ changed: true })
  const { job: stored, warnings } = decision
  const { id: jobId, runId, spec, teamId } = stored
  const job = candidateOf({ spec, teamId, userId: viewer.userId, userName: viewer.userName }, jobId)
  await lockPool(sql, pool)
  const { place, reasons } = await tryOut(domain, sql, { pool, spec, job })
  if (!place) throw new NotNow({ rejected: reasons })
  const start = { job: { ...job, jobId, runId, run: 1, version: 1 }, ...place }
  if ((await startRuns(sql, [start], nowMs)) !== 1) throw new NotNow({ changed: true })
  return { jobId, warnings }
}
