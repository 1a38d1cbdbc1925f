import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Transport } from '../../../src/client/connection/streams.ts'
import type { TokenSource } from '../../../src/client/connection/tokens.ts'
import { createClient } from '../../../src/client/jobs/client.ts'
import { cancelJob } from '../../../src/domain/control/cancel.ts'
import { applyBootstrapToken } from '../../../src/domain/people/tokens.ts'
import { mutate, type Person, personWith } from '../../support/people.ts'
import { type CuttingProxy, startProxy } from '../../support/proxy.ts'
import { openTestServer } from '../../support/server.ts'

/** An expired token is replaced by a new one. A revoked token ends the stream, instead of endless retries. */

const secret = 'the-bootstrap-secret-of-this-test'
const dayMs = 86_400_000
let proxy: CuttingProxy
let admin: Person

const server = await openTestServer({ logIn: { oidc: null } })
beforeAll(async () => {
  await applyBootstrapToken(server.domain, secret)
  admin = personWith(server.url, secret)
  proxy = await startProxy(server.url)
})
afterAll(() => proxy.close())

async function newToken(expiresInMs: number | null): Promise<{ secret: string; id: string }> {
  const expiresAt = expiresInMs && new Date(server.time.nowMs() + expiresInMs).toISOString()
  const input = { name: 't', ...(expiresAt && { expiresAt }) }
  const { secret: made, token } = await mutate(admin, 'createToken', { input, wanted: 'secret token { id }' })
  return { secret: made, id: token.id }
}

const open = (token: TokenSource, transport: Transport) =>
  createClient({ url: proxy.url, token, transports: [transport], sleep: async () => undefined })

describe.each<Transport>(['websocket', 'sse', 'polling'])('tokens over %s', (transport) => {
  it('are replaced by new ones when they expire', async () => {
    const jobId = await server.submit()
    const [first, second] = [await newToken(dayMs), await newToken(null)]
    const refusals: (string | undefined)[] = []
    const client = open((refused) => {
      refusals.push(refused)
      return refused === undefined ? first.secret : second.secret
    }, transport)
    const updates = client.follow(jobId)
    await updates.next()
    await server.moveTime(2 * dayMs)
    proxy.cut()
    await cancelJob(server.domain, server.admin, { jobId })
    const events: unknown[] = []
    for await (const update of updates) if (update.__typename === 'JobTransitions') events.push(...update.transitions)
    expect(events).toMatchObject([{ seq: 2, to: 'CANCELLED' }])
    expect(refusals).toContain(first.secret)
    await client.close()
  })

  it('are requested again from a function that failed, and trimmed', async () => {
    const jobId = await server.submit()
    let asked = 0
    const client = open(async () => {
      if (++asked === 1) throw new TypeError('fetch failed')
      return ` ${secret}\n`
    }, transport)
    expect((await client.follow(jobId, { from: 'CURRENT' }).next()).value).toMatchObject({ job: { state: 'QUEUED' } })
    await client.close()
  })

  it('from a function that never returns do not delay the close of streams and requests', async () => {
    const silent = open(() => new Promise(() => undefined), transport)
    const left = silent.follow('job_1')
    const first = left.next()
    await left.return()
    expect(await first).toMatchObject({ done: true })
    const ended = silent.follow('job_1').next()
    const leave = new AbortController()
    const asked = silent.submit({ spec: { command: ['true'] } }, { signal: leave.signal })
    leave.abort(new Error('enough'))
    await expect(asked).rejects.toThrow('enough')
    await silent.close()
    expect(await ended).toMatchObject({ done: true })
  })

  it('are refused before they are sent if they have invalid characters', async () => {
    const client = open('a token of 5 €', transport)
    const failure = { code: 'UNAUTHENTICATED', message: expect.stringContaining('characters') }
    await expect(client.follow('job_1').next()).rejects.toMatchObject(failure)
    await client.close()
  })

  it('end the stream when they are revoked', async () => {
    const jobId = await server.submit()
    const token = await newToken(null)
    const client = open(token.secret, transport)
    const updates = client.follow(jobId)
    await updates.next()
    await admin.data('mutation ($id: ID!) { revokeToken(input: { tokenId: $id }) { __typename } }', { id: token.id })
    await expect(updates.next()).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
    const failure = { code: 'UNAUTHENTICATED', message: expect.stringMatching(/The token is .*unknown or revoked/) }
    await expect(client.wait(jobId)).rejects.toMatchObject(failure)
    await client.close()
  })

  it('are replaced by the token function when they are revoked', async () => {
    const jobId = await server.submit()
    const [first, second] = [await newToken(null), await newToken(null)]
    const client = open((refused) => (refused === undefined ? first.secret : second.secret), transport)
    const updates = client.follow(jobId)
    await updates.next()
    await admin.data('mutation ($id: ID!) { revokeToken(input: { tokenId: $id }) { __typename } }', { id: first.id })
    proxy.cut()
    await cancelJob(server.domain, server.admin, { jobId })
    const events: unknown[] = []
    for await (const update of updates) if (update.__typename === 'JobTransitions') events.push(...update.transitions)
    expect(events).toMatchObject([{ seq: 2, to: 'CANCELLED' }])
    await client.close()
  })
})
