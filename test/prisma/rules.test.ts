import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { holdingStates, isAlive, isFinal, type JobState, jobStates } from '../../src/domain/state.ts'
import { readSqlState } from '../../src/platform/tx.ts'
import { createDatabase, openDatabase, type TestDatabase } from '../support/database.ts'

const checkViolation = '23514'
const uniqueViolation = '23505'
const final = { state: 'SUCCEEDED', finished_at: '2026-01-01' }

const database = await openDatabase()
beforeAll(() => insert('user', { id: 'user_1', name: 'ada', level: 'RESEARCHER' }))
beforeEach(() => sql('DELETE FROM job'))

const sql = (text: string, values: readonly unknown[] = []) => database.db.sql.query(text, values)

async function insert(table: string, row: Record<string, unknown>) {
  const columns = Object.keys(row).map((name) => `"${name}"`)
  const places = columns.map((_, index) => `$${index + 1}`)
  await sql(`INSERT INTO "${table}" (${columns}) VALUES (${places})`, Object.values(row))
}

const insertJob = (more: Record<string, unknown> = {}) =>
  insert('job', {
    id: 'job_1',
    user_id: 'user_1',
    spec: {},
    state: 'QUEUED',
    pool: 'p',
    queue: 'q',
    executor: 'local',
    account: 'a',
    base_priority: 10,
    cpu_millis: 1000,
    memory_bytes: 1,
    gpu: 0,
    lane_id: '00000000-0000-0000-0000-000000000000',
    ...more,
  })
const insertRun = (more: Record<string, unknown> = {}) =>
  insert('run', { id: 'run_1', job_id: 'job_1', number: 1, pool: 'p', state: 'QUEUED', ...more })

async function refusal(work: Promise<unknown>): Promise<string | undefined> {
  return work.then(
    () => 'accepted',
    (error: unknown) => readSqlState(error),
  )
}

describe('states in the database', () => {
  test('are the same list as in the domain, including final ones', async () => {
    const rows = await sql(
      'SELECT s AS state, berth_is_final(s) AS final FROM unnest(enum_range(NULL::job_state)) AS s',
    )
    expect(rows).toEqual(jobStates.map((state) => ({ state, final: isFinal(state) })))
  })

  test.each([
    ['run_one_alive_per_job', isAlive],
    ['run_holding', (state: JobState) => (holdingStates as readonly JobState[]).includes(state)],
  ])('in the condition of the index %s are those of the domain', async (index, belongs) => {
    const [row] = await sql(`SELECT pg_get_indexdef('${index}'::regclass) AS definition`)
    const named = jobStates.filter((state) => String(row?.['definition']).includes(`'${state}'`))
    expect(named).toEqual(jobStates.filter(belongs))
  })
})

describe('a job row', () => {
  test.each([
    ['it has an end time if it is over', { state: 'SUCCEEDED', log_closed: true }],
    ['it has no end time if it is active', { finished_at: '2026-01-01' }],
    ['its log is closed if it is over', final],
    ['its log is open if it is active', { log_closed: true }],
    ['its version is at least 1', { version: 0 }],
    ['its run number is at least 1', { run_number: 0 }],
    ['its base priority is that of a level', { base_priority: 11 }],
    ['it requests no negative amount', { gpu: -1 }],
    ['its progress is at most 1', { progress_fraction: 1.01 }],
  ])('must satisfy the rule: %s', async (_, more) => {
    expect(await refusal(insertJob(more))).toBe(checkViolation)
  })

  test('in a final state cannot change its state', async () => {
    await insertJob({ ...final, log_closed: true })
    expect(await refusal(sql("UPDATE job SET state = 'FAILED'"))).toBe(checkViolation)
    expect(await refusal(sql("UPDATE job SET state = state, version = version + 1, state_info = 'late'"))).toBe(
      'accepted',
    )
  })

  test.each(['spec = \'{"a": 1}\'', "created_at = '2000-01-01'", "id = 'job_2'", 'sequence = 999'])(
    'keeps the values of its submission: %s',
    async (change) => {
      await insertJob()
      await expect(sql(`UPDATE job SET ${change}`)).rejects.toThrow('A submitted job never changes')
    },
  )
})

describe('a run row', () => {
  beforeEach(() => insertJob())

  test('is the only active run of its job', async () => {
    await insertRun(final)
    await insertRun({ id: 'run_2', number: 2 })
    expect(await refusal(insertRun({ id: 'run_3', number: 3 }))).toBe(uniqueViolation)
  })

  test('in a final state keeps its state and has an end time; it may have an exit code', async () => {
    expect(await refusal(insertRun({ exit_code: 0 }))).toBe(checkViolation)
    expect(await refusal(insertRun({ state: 'FAILED' }))).toBe(checkViolation)
    await insertRun({ ...final, exit_code: 0 })
    expect(await refusal(sql("UPDATE run SET state = 'QUEUED', finished_at = NULL"))).toBe(checkViolation)
  })

  test('has log chunks that are numbered without gaps', async () => {
    await insertRun()
    const log = { run_id: 'run_1', job_id: 'job_1', number: 1 }
    expect(await refusal(insert('run_log', { ...log, start_offset: 2, end_offset: 1 }))).toBe(checkViolation)
    await insert('run_log', log)
    const chunk = { run_id: 'run_1', start_offset: 0, end_offset: 1, line_state: [1, 0, 0, 0], segments: [1, 1] }
    expect(await refusal(insert('log_chunk', chunk))).toBe(checkViolation)
    expect(await refusal(insert('log_chunk', { ...chunk, gap: 'TIRED' }))).toBe(checkViolation)
    expect(await refusal(insert('log_chunk', { ...chunk, gap: 'LOST', end_offset: 0 }))).toBe(checkViolation)
    await insert('log_chunk', { ...chunk, gap: 'LOST' })
  })
})

describe('a node row', () => {
  const amounts = { cpu_millis: 1000, memory_bytes: 10, free_cpu_millis: 1000, free_memory_bytes: 10 }

  test('cannot have more resources allocated than the node has', async () => {
    await insert('pool', { name: 'p', executors: ['local'] })
    await insert('node', { id: 'node_1', pool: 'p', name: 'n', ...amounts })
    expect(await refusal(sql('UPDATE node SET free_cpu_millis = -1'))).toBe(checkViolation)
    expect(await refusal(sql('UPDATE node SET free_memory_bytes = 11'))).toBe(checkViolation)
  })
})

test('at most one submission queue is the default', async () => {
  await insert('pool', { name: 'doors', executors: ['local'] })
  const door = { pool: 'doors', position: 0, is_default: true }
  await insert('submission_queue', { name: 'one', ...door })
  expect(await refusal(insert('submission_queue', { name: 'two', ...door }))).toBe(uniqueViolation)
})

test('the database time of a test moves only when the test moves it', async () => {
  await using other = await createDatabase()
  await other.moveTime(3_600_000)
  await other.moveTime(3_600_000)
  const ahead = async (of: TestDatabase) =>
    (await of.db.sql.query<{ s: number }>('SELECT extract(epoch FROM berth_now() - clock_timestamp())::int AS s'))[0]?.s
  expect(await ahead(other)).toBe(7_200)
  expect(await ahead(database)).toBe(0)
})
