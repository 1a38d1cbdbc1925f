import { beforeEach, expect, test } from 'vitest'
import { type Move, transition } from '../../src/domain/jobs/transition.ts'
import { readSubmission } from '../../src/domain/submission/submission.ts'
import { submitInTransaction } from '../../src/domain/submission/submit-group.ts'
import type { Sql } from '../../src/platform/tx.ts'
import type { Store } from '../../src/scheduler/plan/leader-store.ts'
import { createStoredPool } from '../../src/scheduler/stored-pool.ts'
import { submitBlocked } from '../support/approvals.ts'
import { openTestDomainForEach } from '../support/domain.ts'
import { until } from '../support/until.ts'

/**
 * A job ends exactly while another that depends on it is submitted or approved: in either order, the leader gets the
 * change.
 */
const { database, it, sql } = openTestDomainForEach()
let store: Store

beforeEach(async () => {
  await sql("INSERT INTO scheduler_leader (pool, epoch, holder, host) VALUES ('sim', 1, 'test', 'test')")
  store = createStoredPool(it.domain, { pool: 'sim', epoch: 1, holder: 'test' })
  await store.load()
})

/** A transaction that has executed its statements and is not committed yet. */
interface Open<T> {
  done: Promise<T>
  commit(): Promise<T>
}

function begin<T>(work: (sql: Sql) => Promise<T>, isolation: 'READ COMMITTED' | 'SERIALIZABLE'): Open<T> {
  const done = Promise.withResolvers<T>()
  const mayCommit = Promise.withResolvers<void>()
  const committed = database.db.transaction(
    async (tx) => {
      const result = await work(tx)
      done.resolve(result)
      await mayCommit.promise
      return result
    },
    { isolation },
  )
  committed.catch(done.reject)
  return {
    done: done.promise,
    commit() {
      mayCommit.resolve()
      return committed
    },
  }
}

const move = (tx: Sql, jobIds: readonly string[], step: Pick<Move, 'from' | 'to' | 'reason'>) =>
  transition(
    tx,
    jobIds.map((jobId) => ({ jobId, run: 1, ...step })),
    it.domain.time.nowMs(),
  )
const ending = (...jobIds: string[]) =>
  begin((tx) => move(tx, jobIds, { from: 'RUNNING', to: 'SUCCEEDED', reason: null }), 'READ COMMITTED')

function submitting(on: string, spec: Record<string, unknown> = {}): Open<string> {
  const input = { spec: { command: ['true'], dependsOn: [{ jobId: on }], ...spec } }
  return begin(async (tx) => {
    const [decision] = await submitInTransaction(it.domain, tx, [readSubmission(it.admin, input, Date.now())])
    if (!decision || !('job' in decision)) throw new Error('It was not accepted')
    return decision.job.id
  }, 'SERIALIZABLE')
}

async function running(): Promise<string> {
  const id = await it.submit()
  await move(database.db.sql, [id], { from: 'QUEUED', to: 'STARTING', reason: null })
  await move(database.db.sql, [id], { from: 'STARTING', to: 'RUNNING', reason: null })
  return id
}

const blocked = () =>
  until(
    async () =>
      (
        await sql(
          "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND state = 'active'",
        )
      ).length > 0,
    { what: 'somebody waits for a lock' },
  )

async function hear() {
  for (let more = true; more; ) more = (await store.changes({ has: () => false })).more
}

const isOpen = async (id: string) =>
  (await sql<{ open: boolean }>('SELECT open FROM queue_entry WHERE job_id = $1', [id]))[0]?.open

test('a dependent whose submission is open while its dependency ends becomes ready', async () => {
  const first = await running()
  const submission = submitting(first)
  await submission.done
  const end = ending(first)
  await blocked()
  const second = await submission.commit()
  await hear()
  expect(await isOpen(second)).toBe(false)
  await end.commit()
  await hear()
  expect(await isOpen(second)).toBe(true)
})

test('a dependent that is submitted while the end of its dependency is not committed becomes ready', async () => {
  const first = await running()
  const end = ending(first)
  await end.done
  const submission = submitting(first)
  await blocked()
  await end.commit()
  const second = await submission.commit()
  await hear()
  expect(await isOpen(second)).toBe(true)
})

test('a dependent committed while the statement that ends its dependency waits for a lock becomes ready', async () => {
  const other = await running()
  const first = await running()
  const holder = begin((tx) => tx.query('SELECT 1 FROM job WHERE id = $1 FOR UPDATE', [other]), 'READ COMMITTED')
  await holder.done
  const end = ending(other, first)
  await blocked()
  const second = await submitting(first).commit()
  await hear()
  expect(await isOpen(second)).toBe(false)
  await holder.commit()
  await end.commit()
  await hear()
  expect(await isOpen(second)).toBe(true)
})

test.each(['the approval', 'the end'])(
  'a blocked job becomes ready if its approval and the end of its dependency overlap and %s is committed first',
  async (before) => {
    const first = await running()
    const second = await submitBlocked(it, it.admin, { spec: { dependsOn: [{ jobId: first }] } })
    await hear()
    const approval = begin(async (tx) => {
      await tx.query(
        "UPDATE approval SET status = 'APPROVED', decided_by = $2, decided_at = berth_now() WHERE job_id = $1",
        [second, it.admin.userId],
      )
      await move(tx, [second], { from: 'BLOCKED', to: 'QUEUED', reason: 'APPROVED' })
    }, 'READ COMMITTED')
    await approval.done
    const end = ending(first)
    await end.done
    if (before === 'the approval') await approval.commit()
    else await end.commit()
    await hear()
    await approval.commit()
    await end.commit()
    await hear()
    expect(await isOpen(second)).toBe(true)
  },
)
