import { afterAll, describe, expect, test } from 'vitest'
import { cancelJob, cancelJobs } from '../../../src/domain/control/cancel.ts'
import { deleteJob } from '../../../src/domain/control/remove.ts'
import { InvalidState, NotFound, VersionConflict } from '../../../src/domain/errors.ts'
import { recordLateReport } from '../../../src/domain/jobs/runs.ts'
import { type Move, transition } from '../../../src/domain/jobs/transition.ts'
import { allocate, readNodes } from '../../../src/domain/machines/nodes.ts'
import { findViolations } from '../../../src/domain/selfcheck/selfcheck.ts'
import { isFinal, type JobState, jobStates, moves, type StateReason } from '../../../src/domain/state.ts'
import { openTestDomain } from '../../support/domain.ts'

const { database, it } = await openTestDomain()

afterAll(async () => {
  // Ignores approvals, because these tests move jobs without a decision.
  expect((await findViolations(database.db.sql)).filter(({ rule }) => !rule.includes('approval'))).toEqual([])
})

const sql = <Row>(text: string, values: unknown[] = []) => database.db.sql.query<Row>(text, values)
const now = () => it.domain.time.nowMs()

/** Legal moves that lead from QUEUED to each state. */
const ways: Record<JobState, [JobState, StateReason | null][]> = {
  BLOCKED: [],
  QUEUED: [],
  STARTING: [['STARTING', null]],
  RUNNING: [
    ['STARTING', null],
    ['RUNNING', null],
  ],
  CANCELLING: [
    ['STARTING', null],
    ['RUNNING', null],
    ['CANCELLING', 'CANCELLED'],
  ],
  SUCCEEDED: [
    ['STARTING', null],
    ['RUNNING', null],
    ['SUCCEEDED', null],
  ],
  FAILED: [
    ['STARTING', null],
    ['RUNNING', null],
    ['FAILED', 'EXIT_CODE'],
  ],
  INTERRUPTED: [
    ['STARTING', null],
    ['RUNNING', null],
    ['INTERRUPTED', 'NODE_LOST'],
  ],
  CANCELLED: [['CANCELLED', 'CANCELLED']],
}

async function jobIn(state: JobState): Promise<string> {
  const id = await it.submit()
  if (state === 'BLOCKED') await makeBlocked(id)
  let from: JobState = 'QUEUED'
  for (const [to, reason] of ways[state]) {
    const [moved] = await transition(database.db.sql, [{ jobId: id, run: 1, from, to, reason }], now())
    if (to === 'STARTING' && moved) await takeOneCpu(moved.runId)
    from = to
  }
  return id
}

/** The state after a submission that needs an approval. */
async function makeBlocked(id: string) {
  await sql(`UPDATE job SET state = 'BLOCKED', queued_at = NULL, eligible_at = NULL WHERE id = $1`, [id])
  await sql(`UPDATE run SET state = 'BLOCKED' WHERE job_id = $1`, [id])
  await sql('DELETE FROM queue_entry WHERE job_id = $1', [id])
}

async function takeOneCpu(runId: string) {
  const [node] = await readNodes(database.db.sql, 'sim')
  const placement = {
    nodeId: node?.id ?? '',
    node: 'n1',
    replica: 0,
    cpuMillis: 1,
    memoryBytes: 1,
    gpuIds: [],
    infiniband: false,
    interactive: false,
  }
  await allocate(database.db.sql, [{ runId, placements: [placement] }])
}

const runTimes = async (id: string) => {
  const [row] = await sql<{ startedAt: Date; finishedAt: Date; scheduledAt: Date; now: Date; job: Date[] }>(
    `SELECT run.started_at AS "startedAt", run.finished_at AS "finishedAt", run.scheduled_at AS "scheduledAt",
       berth_now() AS now, ARRAY[job.started_at, job.finished_at] AS job
     FROM run JOIN job ON job.id = run.job_id WHERE job_id = $1`,
    [id],
  )
  if (!row) throw new Error(`No run of ${id}`)
  return row
}

describe('times reported by a backend', () => {
  const hourMs = 3_600_000
  test.each([
    [-2, -1],
    [-1, 1],
    [1, 2],
    [0, -1],
    [2, 1],
  ])('are clamped between the commit of the start and now: start %i h off, end %i h off', async (began, ended) => {
    const id = await jobIn('STARTING')
    const at = (hours: number) => new Date(now() + hours * hourMs)
    const step = { jobId: id, run: 1, reason: null }
    await transition(database.db.sql, [{ ...step, from: 'STARTING', to: 'RUNNING', startedAt: at(began) }], now())
    await transition(database.db.sql, [{ ...step, from: 'RUNNING', to: 'SUCCEEDED', finishedAt: at(ended) }], now())
    const { startedAt, finishedAt, scheduledAt, job, now: last } = await runTimes(id)
    expect(startedAt.getTime()).toBeGreaterThanOrEqual(Math.floor(scheduledAt.getTime()))
    expect(finishedAt.getTime()).toBeGreaterThanOrEqual(startedAt.getTime())
    expect(finishedAt.getTime()).toBeLessThanOrEqual(last.getTime())
    expect(job).toEqual([startedAt, finishedAt])
  })

  test('stay in order if the clock of the database is set back', async () => {
    const id = await jobIn('RUNNING')
    await database.moveTime(-hourMs)
    try {
      await transition(database.db.sql, [{ jobId: id, run: 1, from: 'RUNNING', to: 'SUCCEEDED', reason: null }], now())
    } finally {
      await database.moveTime(hourMs)
    }
    const { startedAt, finishedAt } = await runTimes(id)
    expect(finishedAt).toEqual(startedAt)
  })

  test.each(['job', 'run'])('are rejected by the database if the end of a %s is before its start', async (table) => {
    const id = await jobIn('SUCCEEDED')
    const where = table === 'job' ? 'id' : 'job_id'
    const early = sql(`UPDATE ${table} SET finished_at = started_at - interval '1 ms' WHERE ${where} = $1`, [id])
    await expect(early).rejects.toMatchObject({ constraint: `${table}_ends_after_it_began` })
  })
})

const jobRow = async (id: string) => (await sql<Record<string, unknown>>('SELECT * FROM job WHERE id = $1', [id]))[0]

const pairs = jobStates.flatMap((from) => jobStates.map((to) => [from, to] as const))

describe('every pair of states', () => {
  test.each(pairs)('is allowed or refused exactly as the table of transitions says: %s → %s', async (from, to) => {
    const reasons = (moves[from] as Partial<Record<JobState, readonly (StateReason | null)[]>>)[to]
    const id = await jobIn(from)
    const before = await jobRow(id)
    const reason = reasons?.[0] ?? null
    const again = to === 'QUEUED' && from !== 'BLOCKED'
    const move: Move = { jobId: id, run: 1, from, to, reason, ...(again && { runEnds: 'INTERRUPTED' }) }
    if (!reasons) {
      await expect(transition(database.db.sql, [move], now())).rejects.toThrow(/Illegal move/)
      expect(await jobRow(id)).toEqual(before)
      return
    }
    const [moved] = await transition(database.db.sql, [move], now())
    if (to === 'STARTING' && moved) await takeOneCpu(moved.runId)
    expect(await jobRow(id)).toMatchObject({
      state: to,
      version: Number(before?.['version']) + 1,
      run_number: again ? 2 : 1,
    })
    const events = await sql<{ seq: number; to_state: JobState }>(
      'SELECT seq, to_state FROM event WHERE job_id = $1 ORDER BY seq',
      [id],
    )
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
    expect(events.at(-1)?.to_state).toBe(to)
  })

  test('is refused if the table of transitions does not list the reason', async () => {
    const id = await jobIn('RUNNING')
    const move: Move = { jobId: id, run: 1, from: 'RUNNING', to: 'FAILED', reason: 'APPROVAL_REJECTED' }
    await expect(transition(database.db.sql, [move], now())).rejects.toThrow(
      'Illegal move RUNNING → FAILED for APPROVAL_REJECTED',
    )
  })
})

describe('a final state', () => {
  test.each(jobStates.filter(isFinal))(
    'of a %s job and of its run cannot be changed in the database',
    async (state) => {
      const id = await jobIn(state)
      const others = jobStates.filter((other) => other !== state)
      for (const other of others) {
        await expect(sql(`UPDATE job SET state = $2::job_state WHERE id = $1`, [id, other])).rejects.toThrow(/final/)
        await expect(sql(`UPDATE run SET state = $2::job_state WHERE job_id = $1`, [id, other])).rejects.toThrow(
          /final/,
        )
      }
    },
  )

  test('is not changed by a late report, which is stored as an event', async () => {
    const id = await jobIn('SUCCEEDED')
    const { version, ...before } = (await jobRow(id)) ?? {}
    await recordLateReport(database.db.sql, { jobId: id, run: 1, message: 'again' })
    expect(await jobRow(id)).toEqual({ ...before, version: Number(version) + 1 })
    expect(await sql('SELECT type FROM event WHERE job_id = $1 AND seq = $2', [id, Number(version) + 1])).toEqual([
      { type: 'LATE_REPORT' },
    ])
  })

  test('a stored job spec cannot be changed', async () => {
    const id = await jobIn('QUEUED')
    await expect(sql(`UPDATE job SET spec = '{}' WHERE id = $1`, [id])).rejects.toThrow(/never changes/)
  })
})

describe('transitions are compare-and-set', () => {
  test('one of 20 concurrent transitions succeeds', async () => {
    const id = await jobIn('QUEUED')
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        transition(
          database.db.sql,
          [
            {
              jobId: id,
              run: 1,
              from: 'QUEUED',
              ...(i % 2 ? { to: 'STARTING', reason: null } : { to: 'CANCELLED', reason: 'CANCELLED' }),
            },
          ],
          now(),
        ),
      ),
    )
    expect(outcomes.filter((moved) => moved.length === 1)).toHaveLength(1)
    const [moved] = outcomes.flat()
    if (moved && (await jobRow(id))?.['state'] === 'STARTING') await takeOneCpu(moved.runId)
  })

  test('a transition of an older run, or at another version, has no effect', async () => {
    const id = await jobIn('RUNNING')
    const again: Move = {
      jobId: id,
      run: 1,
      from: 'RUNNING',
      to: 'QUEUED',
      reason: 'NODE_LOST',
      runEnds: 'INTERRUPTED',
    }
    expect(await transition(database.db.sql, [again], now())).toHaveLength(1)
    const late: Move = { jobId: id, run: 1, from: 'QUEUED', to: 'STARTING', reason: null }
    expect(await transition(database.db.sql, [late], now())).toEqual([])
    expect(await transition(database.db.sql, [{ ...late, run: 2, version: 1 }], now())).toEqual([])
    expect(await jobRow(id)).toMatchObject({ state: 'QUEUED', run_number: 2, exit_code: null })
    expect(await sql('SELECT number, state FROM run WHERE job_id = $1 ORDER BY number', [id])).toEqual([
      { number: 1, state: 'INTERRUPTED' },
      { number: 2, state: 'QUEUED' },
    ])
  })

  test('an event contains the native id of the run, and says whether another run follows', async () => {
    const id = await it.submit()
    const move = async (moved: Omit<Move, 'jobId' | 'run'>) => {
      await transition(database.db.sql, [{ jobId: id, run: 1, ...moved }], now())
      const [event] = await sql<{ metadata: unknown }>(
        'SELECT metadata FROM event WHERE job_id = $1 ORDER BY seq DESC LIMIT 1',
        [id],
      )
      return event?.metadata
    }
    expect(await move({ from: 'QUEUED', to: 'STARTING', reason: null })).toBeNull()
    expect(await move({ from: 'STARTING', to: 'RUNNING', reason: null, nativeId: '4711' })).toEqual({
      nativeId: '4711',
    })
    expect(await move({ from: 'RUNNING', to: 'QUEUED', reason: 'NODE_LOST', runEnds: 'INTERRUPTED' })).toEqual({
      nativeId: '4711',
      requeued: true,
    })
  })

  test('the address and the resource use of a run are stored; impossible amounts are stored as unknown', async () => {
    const end = async (more: Partial<Move>) => {
      const jobId = await jobIn('RUNNING')
      await transition(
        database.db.sql,
        [{ jobId, run: 1, from: 'RUNNING', to: 'SUCCEEDED', reason: null, ip: '10.0.0.7', ...more }],
        now(),
      )
      const [run] = await sql('SELECT ip, cpu_seconds, max_memory_bytes FROM run WHERE job_id = $1', [jobId])
      return run
    }
    expect(await end({ usage: { cpuSeconds: 1.5, maxMemoryBytes: 2 ** 40 } })).toEqual({
      ip: '10.0.0.7',
      cpu_seconds: 1.5,
      max_memory_bytes: 2 ** 40,
    })
    const unknown = { ip: '10.0.0.7', cpu_seconds: null, max_memory_bytes: null }
    expect(await end({})).toEqual(unknown)
    expect(await end({ usage: { cpuSeconds: Number.NaN, maxMemoryBytes: -1 } })).toEqual(unknown)
    expect(await end({ usage: { cpuSeconds: Number.POSITIVE_INFINITY, maxMemoryBytes: 2 ** 63 } })).toEqual(unknown)
  })

  test('the PSI/J state never goes back: a job that waits for its second run stays ACTIVE', async () => {
    const id = await jobIn('RUNNING')
    await transition(
      database.db.sql,
      [{ jobId: id, run: 1, from: 'RUNNING', to: 'QUEUED', reason: 'NODE_LOST', runEnds: 'INTERRUPTED' }],
      now(),
    )
    const rows = await sql<{ psij_state: string | null }>(
      'SELECT psij_state FROM event WHERE job_id = $1 ORDER BY seq',
      [id],
    )
    expect(rows.map(({ psij_state }) => psij_state)).toEqual(['QUEUED', null, 'ACTIVE', null])
  })
})

describe('cancelling', () => {
  const expected: Record<JobState, { changed: boolean; state: JobState }> = {
    BLOCKED: { changed: true, state: 'CANCELLED' },
    QUEUED: { changed: true, state: 'CANCELLED' },
    STARTING: { changed: true, state: 'CANCELLING' },
    RUNNING: { changed: true, state: 'CANCELLING' },
    CANCELLING: { changed: false, state: 'CANCELLING' },
    SUCCEEDED: { changed: false, state: 'SUCCEEDED' },
    FAILED: { changed: false, state: 'FAILED' },
    INTERRUPTED: { changed: false, state: 'INTERRUPTED' },
    CANCELLED: { changed: false, state: 'CANCELLED' },
  }

  test.each(jobStates)('changes the state of a %s job as the table of transitions says', async (state) => {
    const id = await jobIn(state)
    expect(await cancelJob(it.domain, it.admin, { jobId: id })).toEqual({ jobId: id, changed: expected[state].changed })
    expect(await jobRow(id)).toMatchObject({ state: expected[state].state })
  })

  test('a group returns one outcome per input, in order; a job that is given twice changes once', async () => {
    const [a, b] = [await jobIn('QUEUED'), await jobIn('RUNNING')]
    const outcomes = await cancelJobs(it.domain, it.admin, [
      { jobId: a },
      { jobId: 'job_none' },
      { jobId: b, expectedVersion: 1 },
      { jobId: a },
    ])
    expect(outcomes[0]).toEqual({ jobId: a, changed: true })
    expect(outcomes[1]).toBeInstanceOf(NotFound)
    expect(outcomes[2]).toBeInstanceOf(VersionConflict)
    expect(outcomes[3]).toEqual({ jobId: a, changed: false })
  })

  test('researchers may cancel only their own jobs; jobs that they cannot see are not found', async () => {
    const rosa = await it.user('rosa', 'RESEARCHER')
    const [own, other] = [await it.submit({}, rosa), await jobIn('QUEUED')]
    expect(await cancelJob(it.domain, rosa, { jobId: own })).toMatchObject({ changed: true })
    await expect(cancelJob(it.domain, rosa, { jobId: other })).rejects.toThrow(`Job ${other} not found`)
  })
})

describe('deleting jobs', () => {
  test('removes a finished job with all of its rows', async () => {
    const id = await jobIn('FAILED')
    expect(await deleteJob(it.domain, it.admin, { jobId: id })).toEqual({ id })
    expect(
      await sql('SELECT 1 FROM event WHERE job_id = $1 UNION ALL SELECT 1 FROM run WHERE job_id = $1', [id]),
    ).toEqual([])
  })

  test('refuses an active job, and a job on which an active job depends', async () => {
    const alive = await jobIn('QUEUED')
    await expect(deleteJob(it.domain, it.admin, { jobId: alive })).rejects.toThrow(InvalidState)
    const named = await jobIn('SUCCEEDED')
    await it.submit({ dependsOn: [{ jobId: named }] })
    await expect(deleteJob(it.domain, it.admin, { jobId: named })).rejects.toThrow(/depends on it/)
  })
})
