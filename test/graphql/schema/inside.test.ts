import { createClient } from 'graphql-ws'
import { beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { deleteJob } from '../../../src/domain/control/remove.ts'
import { deriveRunToken } from '../../../src/domain/inside/run-tokens.ts'
import { type Move, transition } from '../../../src/domain/jobs/transition.ts'
import { applyBootstrapToken } from '../../../src/domain/people/tokens.ts'
import type { Json } from '../../support/client.ts'
import { bearer, mutate, type Person, personWith } from '../../support/people.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'

/** Mutations of a job with the token of its run, with login and in single-user mode. */

const secret = 'the-bootstrap-secret-of-this-test'
let admin: Person

const server = await openTestServer({ logIn: { oidc: null } })
const single = await openTestServer()
beforeAll(async () => {
  await applyBootstrapToken(server.domain, secret)
  // Test databases are copies with the same key.
  await single.domain.db.sql.query("UPDATE run_token_key SET key = sha256('another installation')")
  admin = personWith(server.url, secret)
})

interface RunningJob {
  jobId: string
  runId: string
  /** A caller with the token of the run. */
  self: Person
}

async function move(on: TestServer, jobId: string, step: Omit<Move, 'jobId' | 'run'> & { run?: number }) {
  const [moved] = await transition(on.domain.db.sql, [{ jobId, run: 1, ...step }], on.time.nowMs())
  if (!moved) throw new Error('The job did not move')
  return moved.runId
}

async function runningJob(on: TestServer = server): Promise<RunningJob> {
  const jobId = await on.submit()
  await move(on, jobId, { from: 'QUEUED', to: 'STARTING', reason: null })
  const runId = await move(on, jobId, { from: 'STARTING', to: 'RUNNING', reason: null })
  return { jobId, runId, self: personWith(on.url, await deriveRunToken(on.domain, runId)) }
}

const end = (on: TestServer, jobId: string) =>
  move(on, jobId, { from: 'RUNNING', to: 'SUCCEEDED', reason: null, exitCode: 0 })

const reporting = 'mutation { reportProgress(input: { fraction: 1 }) { __typename } }'
const saving = 'mutation { saveClosure(input: { closure: {} }) { __typename } }'

/** Returns the success of a mutation; throws its problem. */
async function act(by: Person, field: string, more: { input: object; wanted?: string }): Promise<Json> {
  const answer = await mutate(by, field, more)
  if (answer.code) throw new Error(JSON.stringify(answer))
  return answer
}
const report = (by: Person, input: object) => act(by, 'reportProgress', { input, wanted: 'run { id }' })
const publish = async (by: Person, input: object) =>
  (await act(by, 'publishArtifact', { input, wanted: 'artifact { id run { number } sizeBytes }' })).artifact
const save = (by: Person, closure: object) => act(by, 'saveClosure', { input: { closure }, wanted: 'run { id }' })

async function jobOf(jobId: string, fields: string): Promise<Json> {
  const { job } = await admin.data(`query ($id: ID!) { job(id: $id) { ${fields} } }`, { id: jobId })
  return job
}

async function refused(by: Person, query: string) {
  const { errors } = await by.ask(query)
  return errors?.map(({ message, extensions: { code } }) => `${code} ${message}`)
}

async function problemOf(by: Person, field: string, input: object) {
  const { code, message } = await mutate(by, field, { input })
  return `${code} ${message}`
}

describe('the token of a run', () => {
  it('permits only the mutations for running jobs, and no introspection', async () => {
    const { self, runId } = await runningJob()
    expect(await report(self, { fraction: 0.5 })).toEqual({ __typename: 'ReportProgressSuccess', run: { id: runId } })
    for (const query of [
      '{ viewer { user { id } } }',
      '{ serverInfo { name } }',
      '{ __schema { queryType { name } } }',
      'mutation { reserveSlot(input: {}) { __typename } }',
      'mutation { reportProgress(input: { fraction: 1 }) { __typename } planPools(input: {}) { __typename } }',
    ])
      expect(await refused(self, query)).toEqual([expect.stringMatching(/^FORBIDDEN The token of a run permits only/)])
    const client = createClient({
      url: `${server.url.replace(/^http/, 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: bearer(self.token),
    })
    const stream = client.iterate({ query: 'subscription { workloadStatus { __typename } }' })
    const answer: unknown = await stream.next().catch((error: unknown) => error)
    expect(JSON.stringify(answer)).toContain('FORBIDDEN')
    await client.dispose()
  })

  it('does not permit to read the job through an artifact that it published', async () => {
    const { self } = await runningJob()
    const reading = `mutation { publishArtifact(input: { name: "a", mediaType: "text/plain", body: "x" }) {
      ... on PublishArtifactSuccess { artifact { job { id } } } } }`
    expect(await refused(self, reading)).toEqual([expect.stringContaining('NOT_FOUND')])
  })

  it('is refused after the end of the run, if forged, or from another installation', async () => {
    const { self, jobId, runId } = await runningJob()
    const forged = `berth_${runId}_${'A'.repeat(43)}`
    const elsewhere = await deriveRunToken(single.domain, runId)
    for (const token of [forged, elsewhere, 'berth_run_x'])
      expect((await personWith(server.url, token).ask(reporting)).status).toBe(401)
    await end(server, jobId)
    expect((await self.ask(reporting)).status).toBe(401)
  })

  it.each([
    ['with users', () => server],
    ['in single-user mode', () => single],
  ])('opens a WebSocket that is closed when the run ends, %s', async (_mode, on) => {
    const { self, jobId } = await runningJob(on())
    const closed = Promise.withResolvers<unknown>()
    const connected = Promise.withResolvers<void>()
    const client = createClient({
      url: `${on().url.replace(/^http/, 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: bearer(self.token),
      retryAttempts: 0,
      lazy: false,
      onNonLazyError: () => undefined,
      on: { connected: () => connected.resolve(), closed: closed.resolve },
    })
    await connected.promise
    await end(on(), jobId)
    expect(await closed.promise).toMatchObject({ code: 4401 })
    await client.dispose()
  })

  it('identifies the run also in single-user mode', async () => {
    const { self, jobId } = await runningJob(single)
    expect(await refused(self, '{ viewer { user { id } } }')).toHaveLength(1)
    await end(single, jobId)
    expect((await self.ask('{ serverInfo { name } }')).status).toBe(401)
    expect((await personWith(single.url, '').ask('{ viewer { user { id } } }')).errors).toBeUndefined()
  })

  it('is not stored in the database', async () => {
    const { self, runId } = await runningJob()
    const mac = self.token.slice(`berth_${runId}_`.length)
    const [row] = await server.domain.db.sql.query<{ text: string }>(
      'SELECT r::text || j::text AS text FROM run r JOIN job j ON j.id = r.job_id WHERE r.id = $1',
      [runId],
    )
    expect(row?.text).not.toContain(mac)
  })
})

describe('the progress of a job', () => {
  it('keeps a field that a report omits, and removes a field that is null', async () => {
    const { self, jobId } = await runningJob()
    await report(self, { fraction: 0.25, message: 'loading' })
    expect(await jobOf(jobId, 'progress { fraction message }')).toEqual({
      progress: { fraction: 0.25, message: 'loading' },
    })
    await Promise.all([report(self, { message: 'training' }), report(self, { fraction: null })])
    expect(await jobOf(jobId, 'progress { fraction message } version')).toMatchObject({
      progress: { fraction: null, message: 'training' },
      version: 3,
    })
  })

  it('is written to the database at most once a second', async () => {
    const { self, jobId } = await runningJob()
    const statements = server.countStatements()
    const beganMs = performance.now()
    const sendReports = async () => {
      for (let at = 0; at < 4; at++) await report(self, { fraction: at / 4 })
    }
    // The listen backlog holds 511 connections.
    await Promise.all(Array.from({ length: 250 }, sendReports))
    const seconds = (performance.now() - beganMs) / 1_000
    const writes = statements.filter((text) => text.includes('progress_fraction = CASE'))
    expect(writes.length).toBeLessThanOrEqual(1 + Math.ceil(seconds))
    await report(self, { fraction: 1 })
    expect(await jobOf(jobId, 'progress { fraction }')).toEqual({ progress: { fraction: 1 } })
  })

  it('is refused with the field, the value and the rule if it is invalid', async () => {
    const { self } = await runningJob()
    const wrong = (input: object) => problemOf(self, 'reportProgress', input)
    expect(await wrong({ fraction: 1.5 })).toBe('INVALID_INPUT fraction: Must be 0 … 1 (given: 1.5)')
    expect(await wrong({ fraction: -0.1 })).toBe('INVALID_INPUT fraction: Must be 0 … 1 (given: -0.1)')
    expect(await wrong({})).toBe('INVALID_INPUT fraction: Give fraction, message or metrics')
    expect(await wrong({ message: 'x'.repeat(1_001) })).toBe(
      'INVALID_INPUT message: Must have at most 1,000 characters',
    )
    expect(await wrong({ message: 'a\0b' })).toContain('NUL')
    expect(await wrong({ message: '\ud800' })).toContain('lone surrogate')
  })
})

describe('the metrics of a run', () => {
  const series = 'currentRun { metrics { name last { step value } points(points: 2) { step value } } }'

  it('can be read by name, with their last value and their points', async () => {
    const { self, jobId } = await runningJob()
    const metrics = [3, 2, 1].map((value, step) => ({ name: 'loss', step, value }))
    await report(self, { metrics: [...metrics, { name: 'accuracy', value: 0.9 }] })
    expect(await jobOf(jobId, series)).toEqual({
      currentRun: {
        metrics: [
          { name: 'accuracy', last: { step: 1, value: 0.9 }, points: [{ step: 1, value: 0.9 }] },
          {
            name: 'loss',
            last: { step: 2, value: 1 },
            points: [
              { step: 0, value: 3 },
              { step: 2, value: 1 },
            ],
          },
        ],
      },
    })
    await end(server, jobId)
    expect((await jobOf(jobId, series))['currentRun'].metrics).toHaveLength(2)
  })

  it('are refused if the requested number of points is invalid', async () => {
    const { self, jobId } = await runningJob()
    await report(self, { metrics: [{ name: 'loss', value: 1 }] })
    const query = `{ job(id: "${jobId}") { currentRun { metrics { points(points: 1) { step } } } } }`
    expect(await refused(admin, query)).toEqual([expect.stringContaining('points: Must be 2 … 1,000, not 1')])
  })
})

describe('an artifact', () => {
  const text = { name: 'report', mediaType: 'text/plain; charset=utf-8', body: 'häm', metadata: { b: 1, a: [null] } }

  it('is listed in the job, in its events and by node(id), and is deleted with the job', async () => {
    const { self, jobId } = await runningJob()
    const first = await publish(self, text)
    await publish(self, { name: 'model', mediaType: 'application/x-tar', uri: 's3://bucket/model.tar' })
    expect(first).toMatchObject({ run: { number: 1 }, sizeBytes: 4 })
    const { artifacts, events } = await jobOf(
      jobId,
      'artifacts(first: 1) { nodes { id name body metadata } pageInfo { hasNextPage endCursor } } events { nodes { seq type detail { ... on ArtifactDetail { artifact { id name } } } } }',
    )
    expect(artifacts).toMatchObject({
      nodes: [{ id: first.id, name: 'report', body: 'häm', metadata: text.metadata }],
      pageInfo: { hasNextPage: true },
    })
    expect(events.nodes.slice(3)).toMatchObject([
      { seq: 4, type: 'ARTIFACT_PUBLISHED', detail: { artifact: { id: first.id, name: 'report' } } },
      { seq: 5, type: 'ARTIFACT_PUBLISHED' },
    ])
    const after = artifacts.pageInfo.endCursor
    const rest = await jobOf(jobId, `artifacts(after: "${after}") { nodes { name uri sizeBytes } }`)
    expect(rest.artifacts.nodes).toEqual([{ name: 'model', uri: 's3://bucket/model.tar', sizeBytes: null }])
    const node = () => admin.data(`{ node(id: "${first.id}") { ... on Artifact { name job { id } } } }`)
    expect((await node())['node']).toEqual({ name: 'report', job: { id: jobId } })
    await end(server, jobId)
    await deleteJob(server.domain, server.admin, { jobId })
    expect((await node())['node']).toBeNull()
  })

  it('is stored once if it is published repeatedly, and again if its content differs', async () => {
    const { self, jobId } = await runningJob()
    const answers = await Promise.all(Array.from({ length: 5 }, () => publish(self, text)))
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
    await publish(self, { ...text, body: 'new' })
    const { artifacts } = await jobOf(jobId, 'artifacts { nodes { body } }')
    expect(artifacts.nodes).toEqual([{ body: 'häm' }, { body: 'new' }])
  })

  it('is not found if the viewer may not see its job', async () => {
    const { self } = await runningJob()
    const artifact = await publish(self, text)
    await server.user('visitor', 'VIEWER')
    const { secret: token } = (
      await admin.data(
        `mutation ($id: ID!) { createToken(input: { name: "v", userId: $id }) { ... on CreateTokenSuccess { secret } } }`,
        {
          id: (await server.domain.db.sql.query<{ id: string }>(`SELECT id FROM "user" WHERE name = 'visitor'`))[0]?.id,
        },
      )
    )['createToken']
    const { node } = await personWith(server.url, token).data(`{ node(id: "${artifact.id}") { id } }`)
    expect(node).toBeNull()
  })

  it.each<[string, object, string]>([
    ['name', { name: '' }, 'name: Must have 1 … 255 characters'],
    ['name', { name: 'a\nb' }, 'name: Must have 1 … 255 characters'],
    ['mediaType', { mediaType: 'text' }, 'mediaType: Must be a media type'],
    ['uri', { body: null, uri: 'no scheme' }, 'uri: Must be an absolute URI'],
    ['uri', { body: null, uri: 'https://x/gnp.\u202efdp' }, 'uri: Must be an absolute URI'],
    ['uri', { body: null, uri: 'https://x/\x1b[2J' }, 'uri: Must be an absolute URI'],
    ['uri', { body: null, uri: 'javascript:alert(1)' }, 'uri: Must not be a javascript:'],
    ['uri', { body: null, uri: `http://${'x'.repeat(2_048)}` }, 'uri: Must have at most 2,048 characters'],
    ['uri and body', { uri: 'http://x' }, 'uri: Give either uri, body or snapshotId'],
    ['neither', { body: null }, 'uri: Give either uri, body or snapshotId'],
    ['body', { body: 'ä'.repeat(32_769) }, 'body: Must have at most 65,536 bytes, not 65,538'],
    ['metadata', { metadata: { x: 'y'.repeat(16_384) } }, 'metadata: Must have at most 16,384 bytes as JSON'],
    ['NUL', { metadata: { x: 'a\0' } }, 'metadata.x: Must not contain the character NUL'],
  ])('with an invalid %s is refused with the rule', async (_what, wrong, message) => {
    const { self } = await runningJob()
    expect(await problemOf(self, 'publishArtifact', { ...text, ...wrong })).toContain(`INVALID_INPUT ${message}`)
  })

  it('is refused if its run has 1,000 artifacts', async () => {
    const { self, jobId, runId } = await runningJob()
    await server.domain.db.sql.query(
      `INSERT INTO artifact (id, job_id, seq, run_id, run, name, media_type, uri, hash)
       SELECT 'artifact_' || $2 || n, $1, 1000 + n, $2, 1, 'n', 'text/plain', 'x:y', decode(lpad(n::text, 64, '0'), 'hex') FROM generate_series(1, 1000) n`,
      [jobId, runId],
    )
    expect(await problemOf(self, 'publishArtifact', text)).toContain('at most 1,000 artifacts')
  })
})

describe('a closure', () => {
  it('replaces the previous closure, and is returned as it was saved', async () => {
    const { self, jobId } = await runningJob()
    expect((await jobOf(jobId, 'closure')).closure).toBeNull()
    await save(self, { step: 1 })
    await save(self, { step: 2, at: { deep: ['x', null, 1.5] } })
    expect((await jobOf(jobId, 'closure version')).closure).toEqual({ step: 2, at: { deep: ['x', null, 1.5] } })
    const saves = Array.from({ length: 20 }, (_, step) => save(self, { step }))
    await Promise.all(saves)
    expect(await jobOf(jobId, 'closure version')).toMatchObject({ closure: { step: 19 }, version: 3 })
  })

  it('is refused above 256 KiB', async () => {
    const { self, runId } = await runningJob()
    const frame = JSON.stringify({ x: '' }).length
    expect(await save(self, { x: 'y'.repeat(262_144 - frame) })).toEqual({
      __typename: 'SaveClosureSuccess',
      run: { id: runId },
    })
    expect(await problemOf(self, 'saveClosure', { closure: { x: 'y'.repeat(262_145 - frame) } })).toBe(
      'INVALID_INPUT closure: Must have at most 262,144 bytes as JSON, not 262,145',
    )
  })

  it('is refused from a run that a new run of the job replaced', async () => {
    const { self, jobId, runId } = await runningJob()
    await save(self, { from: 1 })
    await move(server, jobId, { from: 'RUNNING', to: 'QUEUED', reason: 'NODE_LOST', runEnds: 'INTERRUPTED' })
    expect((await self.ask(saving)).status).toBe(401)
    expect(runId).not.toBe((await jobOf(jobId, 'currentRun { id }')).currentRun.id)
    expect((await jobOf(jobId, 'closure')).closure).toEqual({ from: 1 })
  })
})
