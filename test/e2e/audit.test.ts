import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Api, connectApi } from '../support/api.ts'
import { type BerthServer, startBerth } from '../support/berth-server.ts'
import { openDatabase } from '../support/database.ts'
import { makeDirectory } from '../support/directory.ts'
import { until } from '../support/until.ts'
import { isWhole } from '../support/whole.ts'

/** Three processes write entries and chain them. The log has no gaps, is in commit order, and is valid. */
const dataDir = makeDirectory()
const servers: BerthServer[] = []
const apis: Api[] = []

const config = `
pools:
  - { name: sim, executor: simulated, nodes: [{ name: n1, cpu: 32, memoryGib: 64 }] }
`

const database = await openDatabase()
beforeAll(async () => {
  const path = join(dataDir, 'berth.yaml')
  await writeFile(path, config)
  const env = { DATABASE_URL: database.url, BERTH_CONFIG: path, BERTH_ROLES: 'api' }
  for (let i = 0; i < 3; i++) servers.push(await startBerth({ dataDir, env }))
  apis.push(...servers.map(({ url }) => connectApi(url)))
})

afterAll(async () => {
  for (const api of apis) await api.close()
  for (const server of servers) await server.end()
})

const jobsEach = isWhole ? 100 : 40

test('the audit chain stays valid while three processes write entries and one chains them', async () => {
  const count = async () => {
    const [row] = await database.db.sql.query<{ chained: number; open: number }>(
      `SELECT count(*) FILTER (WHERE seq IS NOT NULL) AS chained, count(*) FILTER (WHERE seq IS NULL) AS open FROM audit_entry
       WHERE action = 'job.submit'`,
    )
    return row
  }
  let writing = true
  let seen: string[] = []
  async function reader() {
    while (writing) {
      const rows = await database.db.sql.query<{ id: string }>('SELECT id FROM audit_entry WHERE seq > 0 ORDER BY seq')
      const ids = rows.map(({ id }) => id)
      expect(ids.slice(0, seen.length)).toEqual(seen)
      seen = ids
    }
  }
  const reading = reader()
  const submitting = apis.map(async (api) => {
    for (let i = 0; i < jobsEach; i += 5) await api.submitAll(Array.from({ length: 5 }, () => ({ command: ['true'] })))
  })
  await Promise.all(submitting)
  await until(async () => (await count())?.chained === 3 * jobsEach, { what: 'every entry has its place' })
  writing = false
  await reading

  const seqs = await database.db.sql.query<{ seq: number }>('SELECT seq FROM audit_entry ORDER BY seq')
  expect(seqs.map(({ seq }) => seq)).toEqual(Array.from({ length: seqs.length }, (_, i) => i + 1))
  const verified = await Promise.all(apis.map((api) => api.ask('{ verifyAudit { ok headSeq message } }')))
  const wanted = { verifyAudit: { ok: true, headSeq: seqs.length, message: null } }
  expect(verified).toEqual([wanted, wanted, wanted])
})
