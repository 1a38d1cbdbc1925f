import { beforeAll, expect, it } from 'vitest'
import { nodeIds } from '../../support/node-ids.ts'
import { mutate, type Person, personWith } from '../../support/people.ts'
import { openTestServer } from '../../support/server.ts'

/** Capacity reservations over the API. No pool has a leader here. */
let admin: Person

const server = await openTestServer()
beforeAll(async () => {
  admin = personWith(server.url, '')
})

const at = (hours: number) => new Date(Date.UTC(2040, 0, 1, hours)).toISOString()
const wanted = 'capacityReservation { id name pool { name } project nodes { name } startsAt endsAt hard nativeId }'
const input = async (more: object = {}) => ({
  name: 'course',
  pool: 'sim',
  project: 'genome',
  nodeIds: await nodeIds(server.domain.db, 'n1'),
  startsAt: at(8),
  endsAt: at(18),
  ...more,
})
const create = async (more: object = {}) =>
  mutate(admin, 'createCapacityReservation', { input: await input(more), wanted })
const remove = (capacityReservationId: string) =>
  mutate(admin, 'deleteCapacityReservation', { input: { capacityReservationId }, wanted: 'deletedId' })

it('a capacity reservation is created, listed in pages, found by id and deleted', async () => {
  const late = (await create({ name: 'late', startsAt: at(30), endsAt: at(40), hard: true })).capacityReservation
  const early = (await create({ nativeId: 'maui-7' })).capacityReservation
  expect(early).toEqual({
    ...{ name: 'course', project: 'genome', startsAt: at(8), endsAt: at(18), nativeId: 'maui-7' },
    pool: { name: 'sim' },
    nodes: [{ name: 'n1' }],
    id: expect.stringMatching(/^reservation_/),
    hard: false,
  })
  const query = `query ($after: Cursor) { capacityReservations(first: 1, after: $after) {
    nodes { name hard } pageInfo { hasNextPage endCursor } } }`
  const first = (await admin.data(query))['capacityReservations']
  expect(first).toMatchObject({ nodes: [{ name: 'course', hard: false }], pageInfo: { hasNextPage: true } })
  const next = (await admin.data(query, { after: first.pageInfo.endCursor }))['capacityReservations']
  expect(next).toMatchObject({ nodes: [{ name: 'late', hard: true }], pageInfo: { hasNextPage: false } })
  const node = 'query ($id: ID!) { node(id: $id) { ... on CapacityReservation { name } } }'
  expect(await admin.data(node, { id: late.id })).toEqual({ node: { name: 'late' } })
  expect(await remove(late.id)).toEqual({ __typename: 'DeleteCapacityReservationSuccess', deletedId: late.id })
  expect(await admin.data(node, { id: late.id })).toEqual({ node: null })
  expect(await remove(late.id)).toMatchObject({ code: 'NOT_FOUND', message: expect.stringContaining(late.id) })
  await remove(early.id)
})

it('an invalid capacity reservation is refused with the field, the value and the rule', async () => {
  const { id } = (await create()).capacityReservation
  const refusals: [object, string[], string][] = [
    [{ endsAt: at(8) }, ['endsAt'], 'Must be later than startsAt'],
    [{ startsAt: '2001-01-01T00:00:00Z', endsAt: '2001-01-02T00:00:00Z' }, ['endsAt'], 'Must be in the future'],
    [{ startsAt: at(50), endsAt: at(60) }, ['name'], 'Pool sim already has a reservation course; choose another name'],
    [{ name: 'b', nodeIds: ['n9'], startsAt: at(50), endsAt: at(60) }, ['nodeIds', '0'], 'Pool sim has no node n9'],
    [{ name: 'b' }, ['nodeIds', '0'], 'Node n1 is in reservation course at that time; choose another node or window'],
    [{ name: '' }, ['name'], 'Must not be empty'],
    [{ nodeIds: [] }, ['nodeIds'], 'Must name a node'],
  ]
  for (const [more, path, message] of refusals)
    expect(await create(more)).toMatchObject({ code: 'INVALID_INPUT', violations: [{ path, message }] })
  expect(await create({ pool: 'moon' })).toMatchObject({ code: 'NOT_FOUND', message: expect.stringContaining('moon') })
  await remove(id)
})

it('the reason of a waiting job is the start of its reservation, or its deletion once deleted', async () => {
  const { id } = (await create()).capacityReservation
  const jobId = await server.submit({ project: 'genome', capacityReservationId: id })
  const why = async () => {
    const query = `query ($id: ID!) { job(id: $id) { state scheduling { reasons { code message } gates { code open opensAt } } } }`
    return (await admin.data(query, { id: jobId }))['job']
  }
  expect(await why()).toEqual({
    state: 'QUEUED',
    scheduling: {
      reasons: [{ code: 'RESERVATION_WINDOW', message: `Waiting until ${at(8)}` }],
      gates: [{ code: 'RESERVATION_WINDOW', open: false, opensAt: at(8) }],
    },
  })
  await remove(id)
  const message = `Reservation ${id} was deleted; cancel the job or submit it without the reservation`
  expect(await why()).toMatchObject({
    state: 'QUEUED',
    scheduling: {
      reasons: [{ code: 'RESERVATION_WINDOW', message }],
      gates: [{ code: 'RESERVATION_WINDOW', open: false, opensAt: null }],
    },
  })
  const submit = { input: { spec: { command: ['x'], project: 'genome', capacityReservationId: id } } }
  expect(await mutate(admin, 'submitJob', submit)).toMatchObject({
    code: 'INVALID_INPUT',
    violations: [{ path: ['spec', 'capacityReservationId'], message: expect.stringContaining(id) }],
  })
})
