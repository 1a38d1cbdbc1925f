import { spawnSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Api, connectApi, readJob } from '../support/api.ts'
import { type BerthProcess, startBerthProcess } from '../support/berth-process.ts'
import { freePort } from '../support/berth-server.ts'
import { ask } from '../support/client.ts'
import { makeDirectory } from '../support/directory.ts'
import { findFault, numberedLines, readLog } from '../support/numbered-lines.ts'
import { mountSmallDisk } from '../support/small-disk.ts'
import { root } from '../support/sources.ts'
import { stopDatabase } from '../support/stopped-database.ts'
import { until } from '../support/until.ts'

/** A server whose database and spool are on a disk that fills up. Requires root, to mount the disk. */
const diskMegabytes = 120
const lines = 3_000
const disk = await mountSmallDisk(diskMegabytes)

describe.skipIf(disk === null)('a full disk', () => {
  if (disk === null) return
  let server: BerthProcess
  let api: Api
  const signals = makeDirectory()

  beforeAll(async () => {
    const dataDir = join(disk.path, 'data')
    await mkdir(dataDir, { mode: 0o711 })
    server = await startBerthProcess({ dataDir, port: await freePort() })
    api = connectApi(server.url)
  })
  afterAll(async () => {
    await api.close()
    const exitCode = await server.end()
    await disk[Symbol.asyncDispose]()
    expect(exitCode).toBe(0)
  })

  const submit = async () => {
    const spec = { command: ['true', 'x'.repeat(20_000)] }
    const query = `mutation ($spec: JobSpecInput!) { submitJob(input: { spec: $spec }) {
      ... on SubmitJobSuccess { job { id } } ... on Problem { code message } } }`
    const { data } = await ask(server.url, query, { spec })
    return data?.['submitJob'] as { job?: { id: string }; code?: string; message?: string }
  }
  const allWell = { ready: true, database: 'ok', migrations: 'ok', warnings: [] }
  let lastReadiness: unknown
  const readiness = async () => {
    lastReadiness = await (await fetch(`${server.url}/readyz`)).json()
    return lastReadiness as { ready: boolean; database: string }
  }
  const isReady = async () => isDeepStrictEqual(await readiness(), allWell)
  const seen = () => ({ readiness: lastReadiness, output: server.output().slice(-4_000) })
  const isOver = async (id: string) => (await readJob(api, id)).state === 'SUCCEEDED'

  test('is reported in responses, by /readyz and in the log, and work continues when space is free again', async () => {
    await disk.fill()
    const refused = await until(async () => [await submit()].find(({ code }) => code), { what: 'it is noticed' })
    expect(refused).toMatchObject({ code: 'UNAVAILABLE', message: 'The disk of the database is full; try again' })
    const spool = 'the disk of the output of jobs is full'
    const database = 'the disk of the database is full'
    const full = await until(async () => [await readiness()].find((state) => !state.ready), { what: 'it is not ready' })
    // The leader of the pool may lose its lease meanwhile, which is reported as well.
    expect(full).toMatchObject({ database: 'full', warnings: expect.arrayContaining([database, spool]) })
    const doctor = spawnSync(join(root, 'berth'), ['doctor'], {
      cwd: signals,
      env: { PATH: process.env['PATH'], BERTH_URL: server.url },
      encoding: 'utf8',
    })
    expect(doctor).toMatchObject({ status: 1, stdout: expect.stringContaining(database) })
    await disk.free()
    const job = await until(async () => (await submit()).job, { what: 'jobs are accepted again' })
    await until(() => isOver(job.id), { what: 'the job is over' })
    await until(isReady, { what: 'all is well again', seen })
    expect(server.output().match(/"the disk of the output of jobs is full: free space there/g)).toHaveLength(1)
    expect(server.output()).not.toContain('"stack"')
  })

  test('does not change the end of a job that prints; its log is complete or has gaps', async () => {
    const go = join(signals, 'go')
    const jobId = await api.submit({ command: ['sh', '-c', numberedLines(lines), 'sh', go] })
    await until(async () => (await readJob(api, jobId)).state === 'RUNNING', { what: 'it runs' })
    await disk.fill()
    await writeFile(go, '')
    await until(async () => (await readiness()).database === 'full', { what: 'the disk is full' })
    await disk.free()
    await until(() => isOver(jobId), { what: 'the job is over' })
    expect(findFault(await readLog(api, jobId), lines)).toBeNull()
  })
  test('is also reported if it stopped PostgreSQL, which restarts when space is free again', async () => {
    await disk.fill()
    await stopDatabase(join(disk.path, 'data'))
    const told: (string | undefined)[] = []
    for (let asked = 0; asked < 20; asked++) {
      await disk.fill() // what the server let go
      told.push((await submit())?.message)
    }
    expect(new Set(told)).toEqual(new Set(['The disk of the database is full; try again']))
    expect(await readiness()).toMatchObject({
      ready: false,
      database: 'full',
      warnings: expect.arrayContaining(['the disk of the database is full']),
    })
    expect(server.output()).toContain(`make room in ${disk.path}/data/postgres`)
    await disk.free()
    await until(isReady, { what: 'PostgreSQL is back', seen })
    const job = await until(async () => (await submit()).job, { what: 'jobs are accepted again' })
    await until(() => isOver(job.id), { what: 'the job is over' })
    expect(server.output()).not.toContain('"stack"')
  })
})
