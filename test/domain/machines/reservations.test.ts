import { expect, test } from 'vitest'
import { approveJob } from '../../../src/domain/control/approve.ts'
import { cancelJob } from '../../../src/domain/control/cancel.ts'
import { Forbidden, InvalidInput, NotFound, Refusal } from '../../../src/domain/errors.ts'
import { markExpired } from '../../../src/domain/jobs/runs.ts'
import { createCapacityReservation, deleteCapacityReservation } from '../../../src/domain/machines/reservations.ts'
import { computeFits } from '../../../src/domain/queue/fit.ts'
import { explainWaiting } from '../../../src/domain/queue/why-waiting.ts'
import { submitBlocked } from '../../support/approvals.ts'
import { openTestDomain } from '../../support/domain.ts'
import { createLeader } from '../../support/leader.ts'
import { nodeIds } from '../../support/node-ids.ts'

const { database, it } = await openTestDomain()

const sql = <Row = Record<string, unknown>>(text: string, values: unknown[] = []) =>
  database.db.sql.query<Row>(text, values)

async function refused(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'done',
    (error: unknown) =>
      error instanceof InvalidInput ? error.violations : error instanceof Refusal ? error.code : Promise.reject(error),
  )
}

const hour = 3_600_000
const at = (hours: number) => new Date(Date.now() + hours * hour).toISOString()
const input = async ({ nodes = ['n1'], ...more }: Record<string, unknown> & { nodes?: string[] } = {}) => ({
  name: 'week',
  pool: 'sim',
  project: 'genome',
  nodeIds: await nodeIds(database.db, ...nodes),
  startsAt: at(10),
  endsAt: at(20),
  ...more,
})
const create = async (more: Record<string, unknown> = {}) =>
  createCapacityReservation(it.domain, it.admin, await input(more))

test('a capacity reservation is stored, audited, and reported to the leader', async () => {
  await sql('DELETE FROM pool_change')
  const [before] = await sql<{ revision: number }>('SELECT revision FROM pool')
  const { id } = await create({ hard: true, nativeId: 'slurm-7', nodes: ['n1', 'n1'] })
  expect(await sql('SELECT * FROM capacity_reservation')).toMatchObject([
    { id, name: 'week', pool: 'sim', project: 'genome', nodes: ['n1'], hard: true, native_id: 'slurm-7' },
  ])
  expect(await sql('SELECT kind FROM pool_change')).toEqual([{ kind: 'SETTINGS' }])
  expect(await sql('SELECT revision FROM pool')).toEqual([{ revision: (before?.revision ?? 0) + 1 }])
  const entries = await sql('SELECT action, object_id FROM audit_entry ORDER BY seq DESC LIMIT 1')
  expect(entries).toEqual([{ action: 'reservation.create', object_id: id }])
  expect(await deleteCapacityReservation(it.domain, it.admin, { id })).toEqual({ id })
  expect(await refused(deleteCapacityReservation(it.domain, it.admin, { id }))).toBe('NOT_FOUND')
  await expect(create({ pool: 'nowhere' })).rejects.toBeInstanceOf(NotFound)
})

test('a reservation in a pool whose backend chooses nodes must name a reservation of the backend', async () => {
  const executorsAre = (executors: string[]) => sql('UPDATE pool SET executors = $1', [executors])
  await executorsAre(['slurm'])
  expect(await refused(create())).toMatchObject([{ path: ['nativeId'] }])
  await executorsAre(['kubernetes'])
  expect(await refused(create({ nativeId: 'week' }))).toEqual([
    { path: ['pool'], message: 'The backend of pool sim knows no reservations; choose another pool' },
  ])
  await executorsAre(['simulated'])
})

test('an invalid capacity reservation is refused with its field', async () => {
  const { id } = await create()
  expect(await refused(create({ startsAt: at(2), endsAt: at(1) }))).toEqual([
    { path: ['endsAt'], message: 'Must be later than startsAt' },
  ])
  expect(await refused(create({ startsAt: at(-2), endsAt: at(-1) }))).toEqual([
    { path: ['endsAt'], message: 'Must be in the future' },
  ])
  expect(await refused(create({ startsAt: at(30), endsAt: at(40) }))).toEqual([
    { path: ['name'], message: 'Pool sim already has a reservation week; choose another name' },
  ])
  expect(await refused(create({ name: 'other', nodes: ['n1', 'n9'], startsAt: at(30), endsAt: at(40) }))).toEqual([
    { path: ['nodeIds', '1'], message: 'Pool sim has no node n9' },
  ])
  expect(await refused(create({ name: 'other', startsAt: at(19), endsAt: at(40) }))).toEqual([
    { path: ['nodeIds', '0'], message: 'Node n1 is in reservation week at that time; choose another node or window' },
  ])
  expect(await refused(create({ name: 'other', nodes: [] }))).toMatchObject([{ path: ['nodeIds'] }])
  const lead = await it.user('lead', 'LEAD')
  await expect(createCapacityReservation(it.domain, lead, await input())).rejects.toBeInstanceOf(Forbidden)
  await deleteCapacityReservation(it.domain, it.admin, { id })
})

test('a reservation may begin when another one of the same node ends', async () => {
  const [startsAt, between, endsAt] = [at(50), at(60), at(70)]
  const earlier = await create({ name: 'earlier', startsAt, endsAt: between })
  const later = await create({ name: 'later', startsAt: between, endsAt })
  await deleteCapacityReservation(it.domain, it.admin, earlier)
  const again = await create({ name: 'earlier', startsAt, endsAt: between })
  for (const each of [again, later]) await deleteCapacityReservation(it.domain, it.admin, each)
})

test('example 70: a job of a reservation waits for its window; jobs of other projects cannot use the reservation', async () => {
  const { id } = await create()
  const jobId = await it.submit({ project: 'genome', capacityReservationId: id })
  const [entry] = await sql<{ open: boolean; late: boolean }>(
    `SELECT q.open, q.eligible_at = r.starts_at AS late FROM queue_entry q, capacity_reservation r WHERE q.job_id = $1 AND r.id = $2`,
    [jobId, id],
  )
  expect(entry).toEqual({ open: false, late: true })
  const path = ['spec', 'capacityReservationId']
  const naming = (spec: Record<string, unknown>) => refused(it.submit({ capacityReservationId: id, ...spec }))
  expect(await naming({ project: 'other' })).toEqual([
    { path, message: `Capacity reservation ${id} not found for project other in pool sim` },
  ])
  expect(await naming({})).toEqual([
    { path, message: `Capacity reservation ${id} not found for jobs without a project` },
  ])
  expect(await naming({ project: 'genome', capacityReservationId: 'reservation_9' })).toMatchObject([{ path }])
  await sql(
    "UPDATE capacity_reservation SET starts_at = starts_at - interval '30 h', ends_at = ends_at - interval '30 h'",
  )
  expect(await naming({ project: 'genome' })).toEqual([{ path, message: `Capacity reservation ${id} has ended` }])
})

const whyWaits = async (jobId: string) => {
  const waiting = (await explainWaiting(it.domain, [jobId])).get(jobId)
  return {
    reasons: waiting?.reasons.map(({ code }) => code),
    gates: waiting?.gates.map(({ code, detail }) => `${code}: ${detail}`),
  }
}

test('example 70: a job approved before the window of its reservation waits for the window', async () => {
  const { id } = await create({ name: 'approved', startsAt: at(30), endsAt: at(40) })
  const lead = await it.user('lena', 'LEAD')
  const spec = { project: 'genome', capacityReservationId: id }
  const jobId = await submitBlocked(it, it.admin, { requiredLevel: 'RESEARCHER', spec })
  await approveJob(it.domain, lead, { jobId, expectedVersion: 2 })
  const [entry] = await sql(
    `SELECT q.open, q.eligible_at = r.starts_at AS late, j.eligible_at = r.starts_at AS aged
     FROM queue_entry q JOIN job j ON j.id = q.job_id, capacity_reservation r WHERE q.job_id = $1 AND r.id = $2`,
    [jobId, id],
  )
  expect(entry).toEqual({ open: false, late: true, aged: true })
  expect(await whyWaits(jobId)).toEqual({
    reasons: ['RESERVATION_WINDOW'],
    gates: ['APPROVAL: null', 'RESERVATION_WINDOW: Reservation approved'],
  })
})

test('jobs of a deleted reservation wait with that as the reason, until they are cancelled', async () => {
  const { id } = await create({ name: 'removed', startsAt: at(50), endsAt: at(60) })
  const jobId = await it.submit({ project: 'genome', capacityReservationId: id })
  await deleteCapacityReservation(it.domain, it.admin, { id })
  const why = {
    reasons: ['RESERVATION_WINDOW'],
    gates: [`RESERVATION_WINDOW: Reservation ${id} was deleted; cancel the job or submit it without the reservation`],
  }
  expect(await whyWaits(jobId)).toEqual(why)
  const leader = await createLeader(it.domain, 'sim')
  await sql("UPDATE queue_entry SET open = true, eligible_at = berth_now() - interval '1 s' WHERE job_id = $1", [jobId])
  await leader.tick()
  expect(await sql('SELECT state FROM job WHERE id = $1', [jobId])).toEqual([{ state: 'QUEUED' }])
  expect((await whyWaits(jobId)).reasons?.[0]).toBe('RESERVATION_WINDOW')
  await cancelJob(it.domain, it.admin, { jobId })
  expect(await sql('SELECT state FROM job WHERE id = $1', [jobId])).toEqual([{ state: 'CANCELLED' }])
})

test('a job that never fits on the reserved nodes is UNSATISFIABLE, or is refused if it has noWait', async () => {
  await sql(
    `INSERT INTO node (id, pool, name, cpu_millis, memory_bytes, free_cpu_millis, free_memory_bytes)
     VALUES ('node_big', 'sim', 'big', 64000, 1099511627776, 64000, 1099511627776)`,
  )
  const { id } = await create({ name: 'small', startsAt: at(70), endsAt: at(80) })
  const spec = { resources: { cpu: 32, memoryBytes: 1 }, project: 'genome' }
  const [free, bound] = [await it.submit(spec), await it.submit({ ...spec, capacityReservationId: id })]
  const fits = await computeFits(it.domain, [free, bound])
  expect([free, bound].map((job) => fits.get(job)?.couldEverFit)).toEqual([true, false])
  await sql('UPDATE pool SET scheduling = scheduling || \'{"onUnsatisfiable": "FAIL"}\'')
  expect(await refused(it.submit({ ...spec, capacityReservationId: id }))).toBe('REJECTED')
  expect(await refused(it.submit(spec))).toBe('done')
})

test('the end of a hard reservation ends its jobs; the end of a soft or deleted reservation does not', async () => {
  const { id } = await create({ name: 'hard', startsAt: at(40), endsAt: at(42), hard: true })
  await create({ name: 'another', startsAt: at(42), endsAt: at(44), hard: true })
  const soft = await create({ name: 'soft', startsAt: at(44), endsAt: at(46) })
  const expires = async (reservation: string | null) => {
    const jobId = await it.submit({ project: 'genome', capacityReservationId: reservation })
    const [run] = await sql<{ id: string }>('SELECT id FROM run WHERE job_id = $1', [jobId])
    return () => markExpired(database.db.sql, run?.id ?? '', 'RESERVATION')
  }
  const [bound, loose, free] = [await expires(id), await expires(soft.id), await expires(null)]
  expect([await bound(), await loose(), await free()]).toEqual([true, false, false])
  await deleteCapacityReservation(it.domain, it.admin, { id })
  expect(await bound()).toBe(false)
})
