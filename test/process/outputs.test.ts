import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Api, connectApi } from '../support/api.ts'
import { type BerthProcess, startBerthProcess } from '../support/berth-process.ts'
import { freePort } from '../support/berth-server.ts'
import { openDatabase } from '../support/database.ts'
import { makeDirectory } from '../support/directory.ts'
import { until } from '../support/until.ts'
import { isWhole } from '../support/whole.ts'

/** kill -9 of the server while it collects the files of a run: each file comes whole, once, and the copy goes after that. */

const kills = isWhole ? 50 : 3

const dataDir = makeDirectory()
let server: BerthProcess
let api: Api
let start: () => Promise<BerthProcess>

const database = await openDatabase()
beforeAll(async () => {
  const port = await freePort()
  start = () => startBerthProcess({ dataDir, port, env: { DATABASE_URL: database.url } })
  server = await start()
  api = connectApi(server.url)
})
afterAll(async () => {
  await api.close()
  await server.end()
})

const count = async (query: string, ...values: unknown[]) =>
  (await database.db.sql.query<{ n: number }>(query, values))[0]?.n ?? 0

test(`files are whole after kills of the server during their collection: ${kills}`, { timeout: 600_000 }, async () => {
  const work = join(dataDir, 'work')
  const script = `mkdir -p "${work}"; cd "${work}"; for i in 1 2 3 4 5 6 7 8; do head -c 3000000 /dev/urandom >f$i.bin; done`
  const id = await api.submit({
    command: ['sh', '-c', script],
    workdir: dataDir,
    outputs: ['work/'],
    resources: { memoryGib: 1 },
  })
  const chunks = () => count('SELECT count(*)::int AS n FROM blob_chunk')
  const collected = () => count('SELECT count(*)::int AS n FROM run WHERE job_id = $1 AND outputs_at IS NOT NULL', id)
  let cutOff = 0
  for (let killed = 0; killed < kills; killed++) {
    const before = await chunks()
    await until(async () => (await chunks()) > before + 6 || (await collected()) > 0 || null, {
      what: 'chunks arrive',
    })
    process.kill(server.pid, 'SIGKILL')
    if ((await collected()) === 0) cutOff += 1
    server = await start()
  }
  expect(cutOff).toBeGreaterThan(0)
  await until(async () => (await collected()) > 0 || null, { what: 'the files are collected', timeoutMs: 240_000 })
  const { job } = await api.ask<{ job: { state: string; artifacts: { nodes: { name: string; sha256: string }[] } } }>(
    'query ($id: ID!) { job(id: $id) { state artifacts(first: 100) { nodes { name sha256 } } } }',
    { id },
  )
  expect(job.state).toBe('SUCCEEDED')
  const names = Array.from({ length: 8 }, (_, i) => `work/f${i + 1}.bin`)
  expect(job.artifacts.nodes.map(({ name }) => name)).toEqual(names)
  for (const { name, sha256 } of job.artifacts.nodes)
    expect(
      createHash('sha256')
        .update(await readFile(join(dataDir, name)))
        .digest('hex'),
    ).toBe(sha256)
  const { blobs } = { blobs: await count('SELECT count(*)::int AS n FROM blob WHERE complete') }
  expect(blobs).toBe(8)
})
