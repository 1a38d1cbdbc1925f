import { afterAll, beforeAll, expect, it } from 'vitest'
import { cancelJob } from '../../src/domain/control/cancel.ts'
import { data, type Json, type Stream, streamSocket, streamSse } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server[Symbol.asyncDispose]())

const next = async (stream: Stream): Promise<Json> => (await stream.next()).value?.data?.['jobUpdates']

it.each(Object.entries({ socket: streamSocket, sse: streamSse }))(
  'jobUpdates over %s begins anew after a cursor from before a backup was restored',
  async (_name, open) => {
    const jobId = await server.submit()
    const query = `subscription ($after: Cursor) { jobUpdates(after: $after) {
    __typename ... on JobTransitions { job { id } transitions { to } cursor } ... on StreamReset { reason jobIds cursor } } }`
    const stream = open(server.url, query, { after: (await data(server.url, '{ jobs { asOf } }'))['jobs'].asOf })
    await cancelJob(server.domain, server.admin, { jobId })
    let last = await next(stream)
    while (last.transitions.at(-1).to !== 'CANCELLED') last = await next(stream)
    await stream.return?.()
    const another = await server.submit()
    // What the restored database did instead happened later.
    await server.domain.db.sql.query("UPDATE event SET at = at + interval '1 hour' WHERE job_id = $1", [jobId])
    const back = open(server.url, query, { after: last.cursor })
    const reset = await next(back)
    expect(reset).toMatchObject({ __typename: 'StreamReset', reason: 'RETENTION', jobIds: [] })
    const after = open(server.url, query, { after: reset.cursor })
    await cancelJob(server.domain, server.admin, { jobId: another })
    for (const each of [back, after]) expect(await next(each)).toMatchObject({ job: { id: another } })
    await Promise.all([back.return?.(), after.return?.()])
  },
)
