import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { packTar, unpackTar } from 'modern-tar'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findChangedLogs } from '../../src/backup/log-hashes.ts'
import { BackupRefused, type Manifest } from '../../src/backup/manifest.ts'
import { checkData, restore } from '../../src/backup/put-back.ts'
import { readConfig } from '../../src/config.ts'
import { Fenced, fence } from '../../src/domain/leadership.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import type { Sql } from '../../src/platform/tx.ts'
import { backUpTo, createEmptyDatabase, restoreTo } from '../support/backups.ts'
import { openTestDomain } from '../support/domain.ts'
import { root } from '../support/sources.ts'
import { until } from '../support/until.ts'

const log = createLog('silent')
const { database, it: world } = await openTestDomain()
let folder: string
let file: string
let manifest: Manifest

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'berth-backup-'))
  file = join(folder, 'backup.tar')
  const ann = await world.user('ann', 'RESEARCHER')
  for (let i = 0; i < 5; i++) await world.submit({ name: `a "name"\twith\\ signs\n${i}` }, i % 2 ? ann : world.admin)
  await database.db.sql.query(
    `UPDATE scheduler_leader SET epoch = 7, holder = 'host:1:1'; INSERT INTO scheduler_leader (pool, epoch, holder) VALUES ('led', 7, 'host:1:1')`,
  )
  await database.db.sql.query(
    `INSERT INTO run_log (run_id, job_id, number, end_offset) SELECT id, job_id, number, 4 FROM run`,
  )
  await database.db.sql.query(
    `INSERT INTO log_chunk (run_id, start_offset, end_offset, line_state, segments, data)
     SELECT run_id, 0, 4, '{1,0,0,0}', '{1,4}', '\\x0a5c0900' FROM run_log`,
  )
  manifest = (await backUpTo(file, database.url)).manifest
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Describes every table, column, index, constraint, trigger, sequence and setting of a schema. */
const describeSchema = (sql: Sql) =>
  sql.query(`
    SELECT 'column ' || attrelid::regclass || '.' || attname || ' ' || format_type(atttypid, atttypmod) || attnotnull || attstorage::text AS line
    FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v') AND attnum > 0
    UNION ALL SELECT 'index ' || indexdef FROM pg_indexes WHERE schemaname = 'public'
    UNION ALL SELECT 'constraint ' || conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) || convalidated
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace
    UNION ALL SELECT 'trigger ' || pg_get_triggerdef(t.oid) || tgenabled::text FROM pg_trigger t WHERE NOT tgisinternal
    UNION ALL SELECT 'statistics ' || stxname FROM pg_statistic_ext
    UNION ALL SELECT 'settings ' || relname || reloptions::text FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND reloptions IS NOT NULL
    ORDER BY 1`)

const readRows = async (sql: Sql, table: string) =>
  (await sql.query<{ row: string }>(`SELECT t::text AS row FROM "${table}" t ORDER BY 1`)).map(({ row }) => row)

describe('a restored database', () => {
  it('has the schema and every row of the original, and passes the self-check', async () => {
    await using empty = await createEmptyDatabase(database)
    await restoreTo(empty.url, file)
    const [theirs, ours] = [database.db.sql, empty.db.sql]
    expect(await describeSchema(ours)).toEqual(await describeSchema(theirs))
    const adopted = ['scheduler_leader', 'event', 'pool_change', 'question']
    for (const { name, rows } of manifest.tables) {
      const found = await readRows(ours, name)
      expect(found.length, name).toBe(name === 'question' ? 0 : rows)
      if (!adopted.includes(name)) expect(found, name).toEqual(await readRows(theirs, name))
    }
    expect(manifest.logs).toHaveLength(5)
    expect(await findChangedLogs({ query: empty.db.pool.query.bind(empty.db.pool) }, manifest.logs)).toEqual([])
    expect(await checkData({ url: empty.url }, { log })).toMatchObject({ ok: true, data: { findings: [] } })
  })

  it('continues the sequences of the original, fences off its leaders and starts its own transaction numbers', async () => {
    await using empty = await createEmptyDatabase(database)
    const [theirs] = await database.db.sql.query<{ next: number }>(
      `SELECT last_value + 1 AS next FROM job_sequence_seq`,
    )
    await restoreTo(empty.url, file)
    const { sql } = empty.db
    expect(await sql.query(`SELECT nextval('job_sequence_seq') AS next`)).toEqual([theirs])
    expect(await sql.query(`SELECT epoch, holder FROM scheduler_leader WHERE pool = 'led'`)).toEqual([
      { epoch: 1_000_000_007, holder: null },
    ])
    await expect(fence(sql, { pool: 'led', epoch: 7, holder: 'host:1:1' })).rejects.toThrow(Fenced)
    const late = await sql.query(
      'SELECT 1 FROM event WHERE position IS NULL AND xact > pg_snapshot_xmax(pg_current_snapshot())::text::bigint',
    )
    expect(late).toEqual([])
  })

  it('is empty if the restore was killed, and can then be restored again', async () => {
    await using empty = await createEmptyDatabase(database)
    const objects = () => empty.db.sql.query(`SELECT 1 FROM pg_class WHERE relnamespace = 'public'::regnamespace`)
    const sessions = () =>
      empty.db.sql.query(
        `SELECT 1 FROM pg_stat_activity WHERE application_name = 'berth restore' AND datname = current_database()`,
      )
    const env = {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      DATABASE_URL: empty.url,
      BERTH_DATA_DIR: join(folder, 'data'),
    }
    const args = [join(root, 'src/backup/main.ts'), '--', 'restore', file]
    let kills = 0
    while (kills < 3) {
      const child = spawn(process.execPath, args, { env, stdio: 'ignore' })
      const ended = once(child, 'exit')
      await until(async () => (await sessions()).length > 0 || child.exitCode !== null, { what: 'the restore begins' })
      await setTimeout(kills * 100)
      child.kill('SIGKILL')
      await ended
      await until(async () => (await sessions()).length === 0, { what: 'PostgreSQL ends the session' })
      if ((await objects()).length > 0) break // it was faster
      kills += 1
    }
    expect(kills).toBeGreaterThan(0)
    if ((await objects()).length === 0) await restoreTo(empty.url, file)
    expect(await readRows(empty.db.sql, 'job')).toHaveLength(5)
  })

  it('refuses a second backup, and stays unchanged', async () => {
    await using empty = await createEmptyDatabase(database)
    await restoreTo(empty.url, file)
    await expect(restoreTo(empty.url, file)).rejects.toThrow(/is not empty: it has the /)
    expect(await readRows(empty.db.sql, 'job')).toHaveLength(5)
  })
})

/** Expects that a restore rejects the file with this reason and leaves the database empty. */
async function expectRefusal(path: string, reason: RegExp) {
  await using empty = await createEmptyDatabase(database)
  const refused = restoreTo(empty.url, path)
  await expect(refused).rejects.toThrow(BackupRefused)
  await expect(refused).rejects.toThrow(reason)
  expect(await empty.db.sql.query(`SELECT 1 FROM pg_class WHERE relnamespace = 'public'::regnamespace`)).toEqual([])
}

/** Copies the backup with other files and new checksums. */
async function writeChanged(change: (files: Map<string, Buffer>) => void, { sums = true } = {}): Promise<string> {
  const entries = await unpackTar(await readFile(file))
  const files = new Map(entries.map(({ header, data }) => [header.name, Buffer.from(data ?? [])]))
  change(files)
  if (sums) {
    files.delete('SHA256SUMS')
    const lines = [...files].map(([name, body]) => `${createHash('sha256').update(body).digest('hex')}  ${name}\n`)
    files.set('SHA256SUMS', Buffer.from(lines.join('')))
  }
  const path = join(folder, 'changed.tar')
  await writeFile(
    path,
    await packTar(
      [...files].map(([name, body]) => ({ header: { name, size: body.length }, body: new Uint8Array(body) })),
    ),
  )
  return path
}

const changeManifest = (change: (manifest: Manifest) => void) =>
  writeChanged((files) => {
    const changed = JSON.parse(String(files.get('manifest.json'))) as Manifest
    change(changed)
    files.set('manifest.json', Buffer.from(JSON.stringify(changed)))
  })

describe('a backup is rejected with the name of the broken file, and no row is written,', () => {
  it('if one bit of any of its files is flipped', async () => {
    const whole = await readFile(file)
    const names = [
      ...manifest.tables.flatMap(({ parts }) => parts.map(({ name }) => name)),
      'manifest.json',
      'SHA256SUMS',
    ]
    const path = join(folder, 'flipped.tar')
    await using empty = await createEmptyDatabase(database)
    for (const name of names) {
      const changed = Buffer.from(whole)
      const at = whole.indexOf(`${name}\0`) + 512
      changed[at] = (changed[at] ?? 0) ^ 1
      await writeFile(path, changed)
      await expect(restoreTo(empty.url, path), name).rejects.toThrow(
        name === 'SHA256SUMS' ? /differs from its checksum in SHA256SUMS/ : `${name} differs from its checksum`,
      )
    }
    expect(await empty.db.sql.query(`SELECT 1 FROM pg_class WHERE relnamespace = 'public'::regnamespace`)).toEqual([])
  })

  it('if one bit in the name of a file is flipped', async () => {
    const changed = await readFile(file)
    const at = changed.indexOf('tables/job/000001.copy\0')
    changed[at] = (changed[at] ?? 0) ^ 1
    await writeFile(join(folder, 'flipped.tar'), changed)
    await expectRefusal(join(folder, 'flipped.tar'), /is damaged or cut after tables\//)
  })

  it('if a file is missing, or one is added', async () => {
    const missing = await writeChanged((files) => files.delete('tables/job/000001.copy'), { sums: false })
    await expectRefusal(missing, /is damaged: tables\/job\/000001.copy is missing/)
    const unlisted = await writeChanged((files) => files.delete('tables/job/000001.copy'))
    await expectRefusal(unlisted, /tables\/job\/000001.copy is not the one that manifest.json names/)
    const more = await writeChanged((files) => files.set('tables/job/000002.copy', Buffer.from('x\n')))
    await expectRefusal(more, /has files that manifest.json does not name/)
  })

  it('if it is cut off at any position', async () => {
    const { length } = await readFile(file)
    const path = join(folder, 'cut.tar')
    for (const left of [length - 512, length - 1_024, length - 2_000, Math.floor(length / 2), 1_000, 512]) {
      await writeFile(path, await readFile(file))
      await truncate(path, left)
      await expectRefusal(path, /is (damaged or )?cut/)
    }
  })

  it('if it comes from a newer version or another build, or is another kind of file', async () => {
    const newer = await changeManifest(({ migrations }) =>
      migrations.push({ name: '29990101000000_later', checksum: '0'.repeat(64) }),
    )
    await expectRefusal(newer, /newer version of Berth \(0\.1\.0, migration 29990101000000_later\)/)
    const format = await changeManifest((changed) => Object.assign(changed, { formatVersion: 2 }))
    await expectRefusal(format, /newer version of Berth \(format 2\)/)
    const build = await changeManifest(({ migrations: [first] }) =>
      Object.assign(first ?? {}, { checksum: '0'.repeat(64) }),
    )
    await expectRefusal(build, /another build of Berth/)
    await expectRefusal(join(folder, 'absent.tar'), /absent\.tar does not exist/)
    const path = join(folder, 'other')
    await writeFile(path, 'a'.repeat(2_000))
    await expectRefusal(path, /is not a backup: it is not a tar archive/)
    await writeFile(path, Buffer.from('28b52ffd00', 'hex'))
    await expectRefusal(path, /is compressed: decompress it first with "zstd -d"/)
  })

  it('if PostgreSQL rejects one of its rows', async () => {
    const path = await writeChanged((files) => {
      const name = 'tables/feed_head/000001.copy'
      const body = Buffer.from('2\t0\t0\n')
      files.set(name, body)
      const changed = JSON.parse(String(files.get('manifest.json'))) as Manifest
      const part = changed.tables.flatMap(({ parts }) => parts).find((each) => each.name === name)
      Object.assign(part ?? {}, { sha256: createHash('sha256').update(body).digest('hex'), bytes: body.length })
      files.set('manifest.json', Buffer.from(JSON.stringify(changed)))
    })
    await using empty = await createEmptyDatabase(database)
    await expect(restoreTo(empty.url, path)).rejects.toThrow(/feed_head_one_row/)
    expect(await empty.db.sql.query(`SELECT 1 FROM pg_class WHERE relnamespace = 'public'::regnamespace`)).toEqual([])
  })
})

it('a missing file is rejected before a data directory is created', async () => {
  const dataDir = join(folder, 'never-made')
  const config = { ...readConfig(['--config', '/dev/null']), dataDir }
  const task = { config: { ...config, database: { ...config.database, url: null } }, file: join(folder, 'absent.tar') }
  const { signal } = new AbortController()
  await expect(restore({ ...task, log, clock: systemClock, version: '0', signal })).rejects.toThrow('does not exist')
  expect(existsSync(dataDir)).toBe(false)
})
