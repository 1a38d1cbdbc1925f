import { describe, expect, test } from 'vitest'
import { confirmPreemption } from '../../../src/domain/jobs/confirm-preemption.ts'
import { dropHolds, type EvictionRequest, requestEvictions } from '../../../src/domain/jobs/holds.ts'
import { transition } from '../../../src/domain/jobs/transition.ts'
import { openTestDomain } from '../../support/domain.ts'

const { database, it } = await openTestDomain()

const one = async <Row>(text: string, values: unknown[]): Promise<Row | undefined> =>
  (await database.db.sql.query<Row & object>(text, values))[0]

async function runOf(jobId: string): Promise<string> {
  const row = await one<{ id: string }>('SELECT id FROM run WHERE job_id = $1 ORDER BY number DESC LIMIT 1', [jobId])
  return row?.id ?? ''
}

async function running(spec: Record<string, unknown> = { preemptable: true }) {
  const jobId = await it.submit(spec)
  const { sql } = database.db
  const move = { jobId, run: 1, reason: null }
  await transition(sql, [{ ...move, from: 'QUEUED', to: 'STARTING' }], 0)
  await transition(sql, [{ ...move, from: 'STARTING', to: 'RUNNING' }], 0)
  return { jobId, runId: await runOf(jobId) }
}

const placement = { nodeId: 'node_1', node: 'n1', replica: 0, cpuMillis: 1, memoryBytes: 1, gpuIds: [] }

function evictionOf(claimant: string, victims: { jobId: string; runId: string }[], tier = 1): EvictionRequest {
  return {
    hold: {
      id: `hold_${claimant}`,
      jobId: claimant,
      placements: [placement],
      sinceMs: 1_000,
      backfilledOn: null,
    },
    claimant: { jobId: claimant, account: 'y' },
    victims: victims.map(({ jobId, runId }) => ({
      running: { runId, jobId, run: 1, lane: { account: 'x' } },
      tier,
      shares: { claimant: [0, 0.5], victim: [1, 0.5] },
    })),
  }
}

const order = (evictions: EvictionRequest[]) =>
  database.db.transaction((sql) => requestEvictions(sql, { pool: 'sim', epoch: 1, evictions }))
const leave = (run: { runId: string; jobId: string }) => database.db.transaction((sql) => confirmPreemption(sql, run))
const asked = (runId: string) =>
  one<{ asked: boolean; signalled: boolean }>(
    'SELECT preempt_requested_at IS NOT NULL AS asked, preempt_signalled_at IS NOT NULL AS signalled FROM run WHERE id = $1',
    [runId],
  )
const holdsOf = (jobId: string) =>
  database.db.sql.query('SELECT kind, expected_at FROM hold WHERE job_id = $1', [jobId])

describe('a preemption request', () => {
  test('is stored with its hold, as an event, an audit entry and a change for the leader', async () => {
    const victim = await running()
    const claimant = await it.submit()
    await database.db.sql.query('DELETE FROM pool_change')
    await order([evictionOf(claimant, [victim])])
    expect(await holdsOf(claimant)).toMatchObject([{ kind: 'PREEMPTION' }])
    expect(await one('SELECT state, state_reason AS reason FROM job WHERE id = $1', [victim.jobId])).toEqual({
      state: 'RUNNING',
      reason: 'PREEMPTING',
    })
    expect(
      await one('SELECT type, run, metadata FROM event WHERE job_id = $1 ORDER BY seq DESC LIMIT 1', [victim.jobId]),
    ).toEqual({
      type: 'PREEMPT_REQUESTED',
      run: 1,
      metadata: { claimantJobId: claimant, claimantAccount: 'y', tier: 1 },
    })
    expect(await one('SELECT * FROM preemption WHERE victim_run_id = $1', [victim.runId])).toMatchObject({
      claimant: 'y',
      victim: 'x',
      tier: 1,
      shares: { claimant: [0, 0.5], victim: [1, 0.5] },
    })
    expect(await database.db.sql.query('SELECT kind, run_id FROM pool_change')).toEqual([
      { kind: 'RUN', run_id: victim.runId },
    ])
    expect(await leave(victim)).toBe('SIGNAL')
    expect(await leave(victim)).toBe('SIGNAL')
  })

  test('is not stored if its claimant no longer waits', async () => {
    const victim = await running()
    const gone = await running()
    await order([evictionOf(gone.jobId, [victim])])
    expect(await asked(victim.runId)).toEqual({ asked: false, signalled: false })
    expect(await leave(victim)).toBe('NOT_REQUESTED')
  })

  test('is not stored if its victim has ended meanwhile', async () => {
    const victim = await running()
    await transition(
      database.db.sql,
      [{ jobId: victim.jobId, run: 1, from: 'RUNNING', to: 'SUCCEEDED', reason: null, exitCode: 0 }],
      0,
    )
    const claimant = await it.submit()
    await order([evictionOf(claimant, [victim])])
    expect(await asked(victim.runId)).toEqual({ asked: false, signalled: false })
  })

  test('is withdrawn if its claimant is cancelled, but not after the signal to the victim', async () => {
    const spared = await running()
    const signalled = await running()
    const claimant = await it.submit()
    await order([evictionOf(claimant, [spared, signalled])])
    expect(await leave(signalled)).toBe('SIGNAL')
    await transition(
      database.db.sql,
      [{ jobId: claimant, run: 1, from: 'QUEUED', to: 'CANCELLED', reason: 'CANCELLED' }],
      0,
    )
    expect(await holdsOf(claimant)).toEqual([])
    expect(await leave(spared)).toBe('SPARED')
    expect(await leave(signalled)).toBe('SIGNAL')
    expect(await asked(spared.runId)).toEqual({ asked: false, signalled: false })
    expect(await one('SELECT state_reason AS reason FROM job WHERE id = $1', [spared.jobId])).toEqual({ reason: null })
    const types = await database.db.sql.query<{ type: string }>(
      'SELECT type FROM event WHERE job_id = $1 ORDER BY seq',
      [spared.jobId],
    )
    expect(types.map(({ type }) => type).slice(-2)).toEqual(['PREEMPT_REQUESTED', 'PREEMPT_WITHDRAWN'])
    // A new request is possible.
    const other = await it.submit()
    await order([evictionOf(other, [spared])])
    expect(await asked(spared.runId)).toEqual({ asked: true, signalled: false })
  })
})

describe('a hold', () => {
  test('is stored once per job, replaces a planned start, and is deleted when it is dropped or the job starts', async () => {
    const [first, second] = [await it.submit(), await it.submit()]
    await database.db.sql.query(
      `INSERT INTO hold (id, pool, job_id, kind, placements, expected_at) VALUES ('hold_p', 'sim', $1, 'PLANNED', '[]', berth_now())`,
      [first],
    )
    await order([evictionOf(first, []), evictionOf(second, [])])
    expect(await holdsOf(first)).toEqual([{ kind: 'PREEMPTION', expected_at: null }])
    await dropHolds(database.db.sql, [first])
    expect(await holdsOf(first)).toEqual([])
    await transition(database.db.sql, [{ jobId: second, run: 1, from: 'QUEUED', to: 'STARTING', reason: null }], 0)
    expect(await holdsOf(second)).toEqual([])
  })
})

test('a preempted job that lost a rotation is queued behind the jobs that wait at that moment', async () => {
  const loser = await running({ restartable: true })
  const waiting = await it.submit()
  const move = { jobId: loser.jobId, run: 1, from: 'RUNNING', to: 'QUEUED', reason: 'PREEMPTED' } as const
  await transition(database.db.sql, [{ ...move, runEnds: 'INTERRUPTED', losesTurn: true }], 0)
  const later = await it.submit()
  const places = await database.db.sql.query<{ job_id: string }>(
    'SELECT job_id FROM queue_entry WHERE job_id = ANY($1::text[]) ORDER BY sequence',
    [[loser.jobId, waiting, later]],
  )
  expect(places.map(({ job_id }) => job_id)).toEqual([waiting, loser.jobId, later])
})
