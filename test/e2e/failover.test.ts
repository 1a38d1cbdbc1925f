import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Api, connectApi, readJob, statusQuery, tailQuery } from '../support/api.ts'
import { type BerthServer, startBerth } from '../support/berth-server.ts'
import { type Json, streamSocket } from '../support/client.ts'
import { makeDirectory } from '../support/directory.ts'
import { type ReplicatedDatabase, startReplicated } from '../support/standby.ts'
import { until } from '../support/until.ts'
import { isWhole } from '../support/whole.ts'

/** The primary dies, and its standby takes over, with all transactions or without the last ones. */
let database: ReplicatedDatabase
let dataDir: string
let server: BerthServer
let api: Api

beforeEach(async () => {
  database = await startReplicated()
  dataDir = makeDirectory()
  server = await startBerth({ dataDir, env: { DATABASE_URL: database.url } })
  api = connectApi(server.url)
})
afterEach(async () => {
  await api.close()
  await server.end()
  await database[Symbol.asyncDispose]()
})

const updatesQuery = `subscription ($after: Cursor) { jobUpdates(after: $after) { __typename
  ... on JobTransitions { cursor job { id version } transitions { seq } }
  ... on StreamReset { cursor resetReason jobIds } ... on StreamHeartbeat { cursor } } }`

/** Reads the messages of a stream over one connection. */
function listen(query: string, variables: Record<string, unknown> = {}) {
  const seen: Json[] = []
  const stream = streamSocket(server.url, query, variables)
  const done = (async () => {
    for await (const { data, errors } of stream) {
      if (errors) throw new Error(JSON.stringify(errors))
      seen.push(Object.values(data ?? {})[0])
    }
  })()
  done.catch(() => undefined) // It is thrown where it is awaited.
  return { seen, done, close: () => stream.return?.() }
}

type Listening = ReturnType<typeof listen>

/** Returns job and seq of each event after the last reset. */
function eventsSince({ seen }: Listening): string[] {
  const from = seen.findLastIndex((message) => message.__typename === 'StreamReset') + 1
  return seen
    .slice(from)
    .flatMap((message) => (message.transitions ?? []).map(({ seq }: Json) => `${message.job.id} ${seq}`))
}
const resets = ({ seen }: Listening) => seen.filter((message) => message.__typename === 'StreamReset')
const textOf = ({ seen }: Listening) => {
  const from = seen.findLastIndex((message) => message.__typename === 'StreamReset') + 1
  return seen
    .slice(from)
    .map((message) => message.text ?? '')
    .join('')
}

const storedEvents = async (after: number) =>
  (
    await database.query<{ event: string }>(
      `SELECT job_id || ' ' || seq AS event FROM event WHERE position > ${after} ORDER BY position`,
    )
  ).map(({ event }) => event)
const head = async () =>
  (await database.query<{ position: string }>('SELECT position FROM feed_head')).map(({ position }) =>
    Number(position),
  )[0] ?? 0

/** A job that prints 400 lines, one every 50 ms. */
const printer = 'i=0; while [ $i -lt 400 ]; do i=$((i+1)); echo "line $i"; sleep 0.05; done'
const printed = Array.from({ length: 400 }, (_, index) => `line ${index + 1}\n`).join('')

const delayed = { command: ['true'], notBefore: new Date(Date.now() + 3_600_000).toISOString() }
const submitMore = async (count: number) => {
  for (let more = 0; more < count; more++) await api.submit(delayed)
}
const caughtUp = (stream: Listening, wanted: () => Promise<string[]>) =>
  until(async () => JSON.stringify(eventsSince(stream)) === JSON.stringify(await wanted()), {
    what: 'the stream has each event once',
  })

test('after a failover that lost transactions, every stream sends a reset and continues with the stored state', async () => {
  const kept = await api.submit({ command: ['sh', '-c', printer] })
  const updates = listen(updatesQuery)
  const tail = listen(tailQuery, { jobId: kept })
  const status = listen(statusQuery, { jobId: kept })
  await until(() => textOf(tail).includes('line 20\n'), { what: 'it prints' })
  await database.stopReplication()
  const lost = await api.submit(delayed)
  await api.ask(`mutation { setJobPriority(input: { jobId: "${kept}", priority: 5 }) { __typename } }`)
  await submitMore(10)
  await until(() => eventsSince(updates).includes(`${lost} 1`), { what: 'the lost job is shown' })

  await database.failOver()
  await until(() => fetch(`${server.url}/readyz`).then(({ ok }) => ok), {
    what: 'the server is ready',
  })
  await submitMore(15)
  await until(() => resets(updates).length > 0, { what: 'jobUpdates is reset' })
  expect(resets(updates)).toMatchObject([{ resetReason: 'RETENTION', jobIds: [] }])

  // Reads the list after the failover, and the stream from there.
  const { jobs } = await api.ask<Json>('{ jobs(first: 100) { asOf nodes { id version } } }')
  expect(jobs.nodes.map(({ id }: Json) => id)).not.toContain(lost)
  const later = listen(updatesQuery, { after: jobs.asOf })
  await submitMore(5)
  const last = await api.submit(delayed)
  await until(() => [updates, later].every((each) => eventsSince(each).includes(`${last} 1`)), {
    what: 'both have the last job',
  })
  expect(resets(later)).toEqual([])
  for (const each of [updates, later]) {
    await caughtUp(each, async () => (await storedEvents(0)).slice(-eventsSince(each).length))
  }

  const fresh = listen(statusQuery, { jobId: kept })
  await until(() => fresh.seen.length > 0, { what: 'jobStatus begins' })
  const { version } = await readJob(api, kept)
  expect(fresh.seen[0].transitions[0].seq).toBeLessThanOrEqual(version)

  await Promise.all([tail.done, status.done, fresh.done])
  expect(resets(status)).toHaveLength(1)
  expect(textOf(tail)).toBe(printed)
  expect((await readJob(api, kept)).state).toBe('SUCCEEDED')
  await Promise.all([updates.close(), later.close()])
}, 240_000)

const runs = Array.from({ length: isWhole ? 10 : 1 }, (_, index) => index + 1)

test.each(runs)(
  'a stream opened after a failover that lost transactions does not show the lost job (run %i)',
  async () => {
    const updates = listen(updatesQuery)
    await api.submit(delayed)
    await until(() => updates.seen.length > 0, { what: 'the server reads events' })
    await database.stopReplication()
    const lost = await api.submitAll(Array(3).fill({ command: ['true'] }))
    await until(() => lost.every((id) => eventsSince(updates).includes(`${id} 4`)), {
      what: 'the lost jobs have ended',
    })

    await database.failOver()
    const opened = [listen(updatesQuery)]
    await until(() => fetch(`${server.url}/readyz`).then(({ ok }) => ok), { what: 'the server is ready' })
    opened.push(listen(updatesQuery))
    for (let more = 0; more < 15; more++) {
      await api.submit(delayed)
      opened.push(listen(updatesQuery))
    }
    // A stream begins when the server has accepted it, which may be after a job that was submitted later.
    const showsJob = async () => {
      await api.submit(delayed)
      return opened.every(({ seen }) => seen.some(({ job }) => job))
    }
    await until(showsJob, { what: 'each shows a job' })
    const last = await api.submit(delayed)
    await until(() => opened.every((each) => eventsSince(each).includes(`${last} 1`)), {
      what: 'each has the last job',
    })
    const shown = opened.map(({ seen }) => seen.flatMap(({ job }) => job?.id ?? []).filter((id) => lost.includes(id)))
    expect(shown).toEqual(opened.map(() => []))
    await Promise.all([updates, ...opened].map((each) => each.close()))
  },
  240_000,
)

test('after a failover to a synchronous standby, no stream sends a reset, and each event arrives once', async () => {
  await database.commitOnBoth()
  const kept = await api.submit({ command: ['sh', '-c', printer] })
  const tail = listen(tailQuery, { jobId: kept })
  await until(() => textOf(tail).includes('line 20\n'), { what: 'it prints' })
  // The job is running, so no event occurs between the two reads.
  const from = await head()
  const { jobs } = await api.ask<Json>('{ jobs(first: 1) { asOf } }')
  const updates = listen(updatesQuery, { after: jobs.asOf })
  await submitMore(5)
  await database.failOver()
  await until(() => fetch(`${server.url}/readyz`).then(({ ok }) => ok), {
    what: 'the server is ready',
  })
  await submitMore(5)
  await tail.done
  await caughtUp(updates, () => storedEvents(from))
  expect(resets(updates)).toEqual([])
  expect(resets(tail)).toEqual([])
  expect(textOf(tail)).toBe(printed)
  await updates.close()
}, 240_000)
