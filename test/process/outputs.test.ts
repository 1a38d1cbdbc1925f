import { randomInt } from 'node:crypto'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Domain } from '../../src/domain/domain.ts'
import { sweepSnapshots } from '../../src/domain/snapshots/removal.ts'
import type { Db } from '../../src/platform/db.ts'
import { type Api, connectApi } from '../support/api.ts'
import { KillableServer } from '../support/killable-server.ts'
import { sha256 } from '../support/snapshots.ts'
import { until } from '../support/until.ts'
import { isWhole } from '../support/whole.ts'

/**
 * `kill -9` of the server or its database while files of a run are collected: each file is complete and stored once, or
 * is reported.
 */

const kills = isWhole ? { server: 50, database: 50 } : { server: 2, database: 1 }
const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
const fileBytes = 1_500_000
const chunks = names.length * Math.ceil(fileBytes / (256 * 1024))
const collectionMsMax = 240_000

let server: KillableServer
let api: Api
beforeAll(async () => {
  server = await KillableServer.start()
  api = connectApi(server.url)
})
afterAll(async () => {
  await api.close()
  await server.end()
})

const count = async ({ sql }: Db, query: string, ...values: unknown[]) =>
  (await sql.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${query}`, values))[0]?.n ?? 0

const isCollected = async (db: Db, jobId: string) =>
  (await count(db, 'run WHERE job_id = $1 AND outputs_at IS NOT NULL', jobId)) > 0

/** Waits for a point in the collection; false: the collection is over. */
const waitForMoment = (jobId: string) =>
  server.withDatabase(async (db) => {
    const wanted = (await count(db, 'blob_chunk')) + randomInt(1, chunks)
    await until(async () => (await count(db, 'blob_chunk')) >= wanted || (await isCollected(db, jobId)), {
      what: 'chunks arrive',
      timeoutMs: collectionMsMax,
    })
    return !(await isCollected(db, jobId))
  })

test.each(Object.entries(kills))(
  'each output file is complete or reported after kills of the %s during the collection (kills: %s)',
  { timeout: 7_200_000 },
  async (what, times) => {
    let cutOff = 0
    // A fast machine may end a collection before the kill.
    for (let tries = 0; cutOff < times && tries < 3 * times; tries++) {
      const folder = join(server.dataDir, `work-${what}-${tries}`)
      await mkdir(folder)
      const id = await api.submit({
        command: ['sh', '-c', `for i in ${names.join(' ')}; do head -c ${fileBytes} /dev/urandom >$i; done`],
        workdir: folder,
        outputs: ['*'],
        resources: { memoryGib: 1 },
      })
      if (await waitForMoment(id)) cutOff += 1
      await server.kill(what as 'server' | 'database')
      const wait = { what: 'the files are collected', timeoutMs: collectionMsMax }
      await until(() => server.withDatabase((db) => isCollected(db, id)), wait)
      const { job } = await api.ask<{ job: Job }>(jobQuery, { id })
      expect(job.state).toBe('SUCCEEDED')
      const stored = new Map(job.artifacts.nodes.map(({ name, sha256 }) => [name, sha256]))
      expect(stored.size).toBe(job.artifacts.nodes.length)
      const told = job.events.nodes.map(({ message }) => message).join('\n')
      for (const name of names)
        if (stored.has(name)) expect(stored.get(name)).toBe(sha256(await readFile(join(folder, name))))
        else expect(told).toContain(JSON.stringify(name))
      await rm(folder, { recursive: true })
    }
    expect(cutOff).toBe(times)
    await server.withDatabase(async (db) => {
      await sweepSnapshots({ db } as Domain)
      expect(await count(db, 'blob WHERE NOT complete OR snapshot_id IS NULL')).toBe(0)
      const named = await count(db, 'artifact a JOIN blob b ON b.hash = a.sha256 AND b.complete')
      expect(named).toBe(await count(db, 'artifact'))
    })
  },
)

interface Job {
  state: string
  artifacts: { nodes: { name: string; sha256: string }[] }
  events: { nodes: { message: string | null }[] }
}

const jobQuery = `query ($id: ID!) { job(id: $id) { state
  artifacts(first: 100) { nodes { name sha256 } } events(first: 100) { nodes { message } } } }`
