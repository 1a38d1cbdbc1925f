import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiServers, startApiServers } from '../support/api-servers.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { makeDirectory } from '../support/directory.ts'
import { mutate, type Person, personWith } from '../support/people.ts'

/** Slot reservations over several server processes, one of which is killed. */
const servers = 3
const limit = 2

let database: TestDatabase
const dataDir = makeDirectory()
let apis: ApiServers
let people: Person[]

beforeAll(async () => {
  database = await createDatabase()
  apis = await startApiServers({ databaseUrl: database.url, dataDir, count: servers })
  const { token } = await apis.addMember('ann')
  people = apis.urls.map((url) => personWith(url, token))
  await mutate(apis.admin, 'updateLimits', { input: { userMaxActive: limit } })
})
afterAll(async () => {
  await apis?.end()
  await database.close()
})

const on = (index: number): Person => {
  const person = people[index % servers]
  if (!person) throw new Error('No server')
  return person
}
const reserve = (index: number, ttlSeconds = 60) =>
  mutate(on(index), 'reserveSlot', { input: { ttlSeconds }, wanted: 'reservation { id }' })
const submit = (index: number, slotReservationId?: string) =>
  mutate(on(index), 'submitJob', { input: { spec: { command: ['true'] }, slotReservationId }, wanted: 'job { id }' })

test('a slot is consumed once by concurrent requests to several servers', async () => {
  const { reservation } = await reserve(0)
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => submit(n, reservation.id)))
  const accepted = answers.filter(({ job }) => job)
  expect(accepted).toHaveLength(1)
  expect(answers.filter(({ code }) => code === 'RESERVATION_EXPIRED')).toHaveLength(19)
  await mutate(on(1), 'cancelJob', { input: { jobId: accepted[0].job.id } })
})

test("slots that a killed server reserved stay reserved until they expire by the database's clock", async () => {
  const slots = [await reserve(2), await reserve(2)]
  await apis.kill(2)
  await database.moveTime(55_000)
  expect(await reserve(0)).toMatchObject({ code: 'QUOTA_EXCEEDED' })
  expect(await submit(1)).toMatchObject({ code: 'QUOTA_EXCEEDED' })
  await database.moveTime(10_000)
  expect(await submit(0, slots[0].reservation.id)).toMatchObject({ code: 'RESERVATION_EXPIRED' })
  expect(await submit(1)).toMatchObject({ job: { id: expect.any(String) } })
  expect(await reserve(0)).toMatchObject({ reservation: { id: expect.any(String) } })
})
