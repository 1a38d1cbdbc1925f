import { unpackTar } from 'modern-tar'
import { afterAll, expect, it } from 'vitest'
import { deriveRunToken } from '../../../src/domain/inside/run-tokens.ts'
import { transition } from '../../../src/domain/jobs/transition.ts'
import { DownloadServer } from '../../support/downloads.ts'
import { bearer, mutate, type Person, personWith } from '../../support/people.ts'
import { makeBlob, makeFileList } from '../../support/snapshots.ts'

const world = await DownloadServer.start()
afterAll(() => world.server[Symbol.asyncDispose]())
const { server, admin } = world
const { domain, time } = server

async function put(path: string, body: string | Buffer) {
  const response = await fetch(new URL(path, server.url), { method: 'PUT', body: String(body) })
  return response.json() as Promise<{ uploadUrl: string }>
}

/** The id of a job that is STARTING, with its run's token. */
async function startJob(by: Person, snapshot: string | null): Promise<{ id: string; token: string }> {
  const input = { spec: { command: ['true'], snapshot } }
  const { job } = await mutate(by, 'submitJob', { input, wanted: 'job { id }' })
  const [moved] = await transition(
    domain.db.sql,
    [{ jobId: job.id, run: 1, from: 'QUEUED', to: 'STARTING', reason: null }],
    time.nowMs(),
  )
  return { id: job.id, token: await deriveRunToken(domain, moved?.runId ?? '') }
}

const get = (id: string, token: string) =>
  world.get(`/download/jobs/${id}/snapshot`, world.withToken({}, personWith(server.url, token)))

it('the snapshot of a job can be read only by a run of the job, and only until the run ends', async () => {
  const list = makeFileList({ 'a/b': 'one', c: { link: 'a/b' } })
  const made = await mutate(admin, 'createSnapshot', {
    input: list.announced,
    wanted: 'uploadUrl snapshot { id }',
  })
  await put((await put(made.uploadUrl, list.text)).uploadUrl, makeBlob('one'))
  const job = await startJob(admin, made.snapshot.id)
  const other = await startJob(admin, null)
  const answer = await get(job.id, job.token)
  expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'application/x-tar' } })
  const entries = await unpackTar(new Uint8Array(answer.bytes))
  expect(entries.map(({ header: { name, type } }) => [name, type])).toEqual([
    ['a/', 'directory'],
    ['a/b', 'file'],
    ['c', 'symlink'],
  ])
  const statuses = [
    await get(job.id, other.token),
    await get(other.id, other.token),
    await get(job.id, admin.token),
    await get(job.id, `${job.token.slice(0, -1)}_`),
    await world.get(`/download/jobs/${job.id}/snapshot`),
    await world.get(`/download/jobs/${job.id}/log`, { headers: bearer(job.token) }),
  ].map(({ status }) => status)
  expect(statuses).toEqual([404, 404, 404, 401, 401, 404])
  const move = { jobId: job.id, run: 1, reason: null }
  await transition(domain.db.sql, [{ ...move, from: 'STARTING', to: 'RUNNING' }], time.nowMs())
  await transition(domain.db.sql, [{ ...move, from: 'RUNNING', to: 'SUCCEEDED', exitCode: 0 }], time.nowMs())
  expect((await get(job.id, job.token)).status).toBe(401)
})
