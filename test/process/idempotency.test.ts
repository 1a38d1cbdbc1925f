import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findViolations } from '../../src/domain/selfcheck/selfcheck.ts'
import { type Api, connectApi } from '../support/api.ts'
import { type BerthProcess, startBerthProcess } from '../support/berth-process.ts'
import { freePort } from '../support/berth-server.ts'
import { openDatabase } from '../support/database.ts'
import { makeDirectory } from '../support/directory.ts'
import { until } from '../support/until.ts'
import { isWhole } from '../support/whole.ts'

/**
 * Keys, slots and limits are respected when many clients use several server processes at once, and when one is killed.
 * `npm run test:whole` kills it 20 times, and has 50 rounds.
 */
const servers = 3
const kills = isWhole ? 20 : 2
const rounds = isWhole ? 50 : 2
const keysPerKill = 10

const dataDir = makeDirectory()
const running: BerthProcess[] = []
const apis: Api[] = []

async function start(port: number): Promise<BerthProcess> {
  const env = { DATABASE_URL: database.url, BERTH_CONFIG: join(dataDir, 'berth.yaml'), BERTH_ROLES: 'api' }
  return startBerthProcess({ dataDir, port, env })
}

const database = await openDatabase()
beforeAll(async () => {
  await writeFile(
    join(dataDir, 'berth.yaml'),
    'pools: [{ name: sim, executor: simulated, nodes: [{ name: n1, cpu: 32, memoryGib: 64 }] }]\n',
  )
  for (let n = 0; n < servers; n++) running.push(await start(await freePort()))
  for (const { url } of running) apis.push(connectApi(url))
})
afterAll(async () => {
  for (const api of apis) await api.close()
  for (const server of running) await server.end()
})

const mutation = `mutation ($input: SubmitJobInput!) { submitJob(input: $input) {
  ... on SubmitJobSuccess { idempotentHit job { id } } ... on Problem { code message } } }`

interface Answer {
  idempotentHit?: boolean
  job?: { id: string }
  code?: string
  message?: string
}

const input = (idempotencyKey: string | null, name = 'keyed') => ({
  spec: { command: ['true'], name },
  ...(idempotencyKey !== null && { idempotencyKey }),
})

async function submit(api: Api | undefined, one: object): Promise<Answer> {
  if (!api) throw new Error('No server')
  const { submitJob } = await api.ask<{ submitJob: Answer }>(mutation, { input: one })
  return submitJob
}

/** Sends `count` requests at once, spread over all servers. */
const everywhere = <T>(count: number, work: (api: Api | undefined, index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => work(apis[index % servers], index)))

const countJobs = async () =>
  (await database.db.sql.query<{ n: number }>('SELECT count(*)::int AS n FROM job'))[0]?.n ?? 0

test('100 concurrent submissions to three servers with one idempotency key create one job', async () => {
  const answers = await everywhere(100, (api) => submit(api, input('one')))
  expect(new Set(answers.map(({ job }) => job?.id)).size).toBe(1)
  expect(answers.filter(({ idempotentHit }) => idempotentHit)).toHaveLength(99)
  expect(await submit(apis[1], input('one', 'other'))).toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' })
  expect(await countJobs()).toBe(1)
})

const reserve = async (api: Api | undefined) => {
  const query = `mutation { reserveSlot(input: { ttlSeconds: 60 }) {
    ... on ReserveSlotSuccess { reservation { id } } ... on Problem { code } } }`
  return (await api?.ask<{ reserveSlot: { reservation?: { id: string }; code?: string } }>(query))?.reserveSlot
}

/** null: no limit. */
async function allowMore(count: number | null) {
  const limits = `mutation ($input: UpdateLimitsInput!) { updateLimits(input: $input) { __typename } }`
  await apis[0]?.ask(limits, { input: { userMaxActive: count && (await countJobs()) + count } })
}

test(`a limit of 5 accepts 5 of 50 submissions, and 5 of 20 reservations over three servers, ${rounds} times`, {
  timeout: 240_000,
}, async () => {
  for (let round = 0; round < rounds; round++) {
    await allowMore(5)
    const answers = await everywhere(50, (one) => submit(one, input(null)))
    expect(answers.filter(({ job }) => job)).toHaveLength(5)
    expect(answers.filter(({ code }) => code === 'QUOTA_EXCEEDED')).toHaveLength(45)
  }
  await allowMore(5)
  const slots = await everywhere(20, reserve)
  expect(slots.filter((slot) => slot?.reservation)).toHaveLength(5)
  await allowMore(null)
})

test('concurrent submissions to several servers consume a slot only once', async () => {
  const slot = await reserve(apis[0])
  const answers = await everywhere(20, (api) =>
    submit(api, { ...input(null), slotReservationId: slot?.reservation?.id }),
  )
  expect(answers.filter(({ job }) => job)).toHaveLength(1)
  expect(answers.filter(({ code }) => code === 'RESERVATION_EXPIRED')).toHaveLength(19)
})

test('slots reserved through a killed server stay reserved until they expire by the clock of the database', async () => {
  await database.moveTime(65_000) // those of the tests before
  await allowMore(2)
  const slots = [await reserve(apis[2]), await reserve(apis[2])]
  await running[2]?.end('SIGKILL')
  await database.moveTime(55_000)
  expect(await reserve(apis[0])).toMatchObject({ code: 'QUOTA_EXCEEDED' })
  expect(await submit(apis[1], input(null))).toMatchObject({ code: 'QUOTA_EXCEEDED' })
  await database.moveTime(10_000)
  const expired = { ...input(null), slotReservationId: slots[0]?.reservation?.id }
  expect(await submit(apis[0], expired)).toMatchObject({ code: 'RESERVATION_EXPIRED' })
  expect(await submit(apis[1], input(null))).toMatchObject({ job: { id: expect.any(String) } })
  expect(await reserve(apis[0])).toMatchObject({ reservation: { id: expect.any(String) } })
  await allowMore(null)
  running[2] = await start(Number(new URL(running[2]?.url ?? '').port))
})

test(`after kill -9 between commit and response, ${kills} times, every retry finds the same job`, {
  timeout: 600_000,
}, async () => {
  for (let kill = 0; kill < kills; kill++) {
    const names = Array.from({ length: keysPerKill }, (_, n) => `kill-${kill}-${n}`)
    // The viewer may not read the approvals in the response, so the job is committed without a response.
    const held = await database.db.pool.connect()
    await held.query('BEGIN; LOCK TABLE approval IN ACCESS EXCLUSIVE MODE')
    const server = running[0] as BerthProcess
    const lost = names.map((name) => answered(server.url, input(name, name)))
    await until(async () => (await jobsNamed(names)) === keysPerKill, { what: 'all are committed' })
    await server.end('SIGKILL')
    await held.query('ROLLBACK')
    held.release()
    expect(await Promise.all(lost)).toEqual(names.map(() => false))
    const answers = await Promise.all(names.map((name, n) => submit(apis[1 + (n % 2)], input(name, name))))
    expect(answers.filter(({ idempotentHit }) => idempotentHit)).toHaveLength(keysPerKill)
    expect(await jobsNamed(names)).toBe(keysPerKill)
    running[0] = await start(Number(new URL(server.url).port))
  }
  expect(await findViolations(database.db.sql)).toEqual([])
})

const jobsNamed = async (names: readonly string[]) =>
  (await database.db.sql.query<{ n: number }>('SELECT count(*)::int AS n FROM job WHERE name = ANY($1)', [names]))[0]?.n

/** Whether the server responded. */
async function answered(url: string, one: object): Promise<boolean> {
  const query = mutation.replace('job { id }', 'job { id approval { id } }')
  return fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables: { input: one } }),
  }).then(
    async (response) => (await response.text()).includes('idempotentHit'),
    () => false,
  )
}
