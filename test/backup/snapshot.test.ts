import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { uploadSnapshot } from '../../src/client/files/index.ts'
import { type Client, createClient } from '../../src/client/jobs/client.ts'
import type { Sql } from '../../src/platform/tx.ts'
import { backUpTo, createEmptyDatabase, restoreTo } from '../support/backups.ts'
import { startBerth } from '../support/berth-server.ts'
import { createDatabase } from '../support/database.ts'
import { sha256 } from '../support/snapshots.ts'

const tables = ['snapshot', 'blob', 'blob_chunk']
const readRows = async (sql: Sql) =>
  Promise.all(tables.map((table) => sql.query(`SELECT t::text AS row FROM ${table} t ORDER BY 1`)))

async function withServer<T>(
  dataDir: string,
  env: Record<string, string>,
  use: (client: Client) => Promise<T>,
): Promise<T> {
  const server = await startBerth({ dataDir, env })
  const client = createClient({ url: server.url })
  try {
    return await use(client)
  } finally {
    await client.close()
    await server.end()
  }
}

it('a restored snapshot has every byte, and a job submitted with it before the backup runs with its files', async () => {
  await using kept = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'berth-backup-snapshot-'))
  kept.defer(() => rm(folder, { recursive: true, force: true }))
  const [here, file] = [join(folder, 'here'), join(folder, 'backup.tar')]
  await mkdir(here)
  const contents = { large: randomBytes(600 * 1024 + 7), empty: '', text: 'ü\0\\x\n' }
  for (const [name, content] of Object.entries(contents)) await writeFile(join(here, name), content)
  const sums = Object.entries(contents).map(([name, content]) => `${sha256(content)}  ${name}\n`)
  await writeFile(join(here, 'sums'), sums.join(''))
  const database = kept.use(await createDatabase())
  const empty = kept.use(await createEmptyDatabase(database))

  // A server without a scheduler: the job is still queued in the backup.
  const submitted = await withServer(folder, { DATABASE_URL: database.url, BERTH_ROLES: 'api' }, async (client) => {
    const { id: snapshot } = await uploadSnapshot(client, here)
    const resources = { memoryBytes: 64 * 2 ** 20 }
    return client.submit({ spec: { command: ['sha256sum', '-c', 'sums'], snapshot, resources } })
  })
  if (submitted.__typename !== 'SubmitJobSuccess') throw new Error(JSON.stringify(submitted))
  await backUpTo(file, database.url)
  await restoreTo(empty.url, file)
  const restored = await readRows(empty.db.sql)
  expect(restored.map(({ length }) => length)).toEqual([1, 3, 5])
  expect(restored).toEqual(await readRows(database.db.sql))

  const job = await withServer(folder, { DATABASE_URL: empty.url }, (client) => client.wait(submitted.job.id))
  expect(job).toMatchObject({ state: 'SUCCEEDED', exitCode: 0 })
})
