import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Api, connectApi, readJob } from '../support/api.ts'
import { type BerthServer, startBerth } from '../support/berth-server.ts'
import { ask } from '../support/client.ts'
import { openDatabase } from '../support/database.ts'
import { makeDirectory } from '../support/directory.ts'
import { createDoor } from '../support/outage.ts'
import { until } from '../support/until.ts'

/** PostgreSQL stops responding without an error: calls fail, the server can stop, and work continues afterwards. */
const dataDir = makeDirectory()
let server: BerthServer
let other: BerthServer
let api: Api

const database = await openDatabase()
const door = await createDoor(database.url)
beforeAll(async () => {
  const start = async () => startBerth({ dataDir, env: { DATABASE_URL: door.url } })
  server = await start()
  other = await start()
  api = connectApi(server.url)
})
afterAll(async () => {
  await api.close()
  door.thaw()
  await server.end()
  await door.shut()
})

const submit = `mutation { submitJob(input: { spec: { command: ["true"] } }) {
  ... on SubmitJobSuccess { job { id } } ... on Problem { code } } }`

const ends = (jobId: string) =>
  until(async () => (await readJob(api, jobId).catch(() => null))?.state === 'SUCCEEDED', {
    what: 'the job has ended',
  })

test('while the database does not respond, calls fail and a server can stop; afterwards work continues', async () => {
  await ends(await api.submit({ command: ['true'] }))
  door.freeze()
  const stopped = other.end()
  const submissions = Array.from({ length: 3 }, () => ask(server.url, submit))
  const queries = [
    '{ jobs(first: 1) { nodes { id } } }',
    '{ viewer { user { name } } }',
    '{ pool { workload { depth } } }',
  ]
  const reads = queries.map((query) => ask(server.url, query))
  expect(await fetch(`${server.url}/readyz`)).toMatchObject({ status: 503 })
  for (const answer of await Promise.all([...submissions, ...reads]))
    expect(JSON.stringify(answer)).toContain('UNAVAILABLE')
  await stopped
  door.thaw()
  const jobId = await until(() => api.submit({ command: ['true'] }).catch(() => null), {
    what: 'a job is taken',
  })
  await ends(jobId)
})
