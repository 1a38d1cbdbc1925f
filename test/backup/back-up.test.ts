import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findChangedLogs } from '../../src/backup/log-hashes.ts'
import { readArchive } from '../../src/domain/snapshots/archive.ts'
import { readLogGaps } from '../../src/logs/gaps.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { backUpTo, createEmptyDatabase, restoreTo } from '../support/backups.ts'
import { openTestDomain } from '../support/domain.ts'
import { storeSnapshot } from '../support/snapshots.ts'
import { root } from '../support/sources.ts'
import { until } from '../support/until.ts'

const run = promisify(execFile)
const { database, it: world } = await openTestDomain()
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'berth-backup-'))
  await world.submit()
  await database.db.sql.query(
    'INSERT INTO run_log (run_id, job_id, number, end_offset) SELECT id, job_id, number, 100000 FROM run',
  )
  await database.db.sql.query(
    `INSERT INTO log_chunk (run_id, start_offset, end_offset, line_state, segments, data)
     SELECT run_id, 0, 100000, '{1,0,0,0}', '{1,100000}', convert_to(repeat('x', 100000), 'UTF8') FROM run_log`,
  )
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const options = () => ({
  env: {
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    DATABASE_URL: database.url,
    BERTH_DATA_DIR: join(folder, 'data'),
  },
})
const words = (file: string, ...flags: string[]) => [join(root, 'src/backup/main.ts'), ...flags, '--', 'backup', file]

describe('berth backup', () => {
  it('writes a tar that only its owner may read, replaces an older file, and is recorded in the database', async () => {
    const file = join(folder, 'mode.tar')
    await writeFile(file, 'older')
    await run(process.execPath, words(file), options())
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const { stdout } = await run('tar', ['-xOf', file, 'tables/feed_head/000001.copy'])
    expect(stdout).toMatch(/^1\t\d+\t0\n$/)
    await run('sh', ['-c', `mkdir out && cd out && tar -xf ../mode.tar && sha256sum -c SHA256SUMS`], { cwd: folder })
    expect((await readdir(folder)).filter((name) => name.includes('unfinished'))).toEqual([])
    const [record] = await database.db.sql.query('SELECT taken_at FROM backup_record')
    expect(record).toEqual({ taken_at: expect.any(Date) })
  })

  it('writes only the tar to stdout', async () => {
    const { stdout, stderr } = await run(process.execPath, words('-'), { ...options(), encoding: 'buffer' })
    expect(String(stderr)).toMatch(/^backup: \d+ rows, /)
    const file = join(folder, 'stdout.tar')
    await writeFile(file, stdout)
    await using empty = await createEmptyDatabase(database)
    await restoreTo(empty.url, file)
  })

  it('leaves no file after SIGTERM, and removes the file of a killed backup', async () => {
    const file = join(folder, 'stopped.tar')
    const start = async () => {
      const child = spawn(process.execPath, words(file, '--rate', '0.001'), { ...options(), stdio: 'ignore' })
      await until(async () => (await listFiles()).length === 1, { what: 'the backup begins' })
      return child
    }
    const listFiles = async () => (await readdir(folder)).filter((name) => name.startsWith('stopped.tar'))
    const stopped = await start()
    stopped.kill('SIGTERM')
    expect(await once(stopped, 'exit')).toEqual([130, null])
    expect(await listFiles()).toEqual([])

    const killed = await start()
    killed.kill('SIGKILL')
    await once(killed, 'exit')
    expect(await listFiles()).toEqual([`stopped.tar.unfinished-${killed.pid}`])
    await run(process.execPath, words(file), options())
    expect(await listFiles()).toEqual(['stopped.tar'])
  })

  it('rejects a database without tables of Berth, and a data directory without a database', async () => {
    await using empty = await createEmptyDatabase(database)
    await expect(backUpTo(join(folder, 'empty.tar'), empty.url)).rejects.toThrow('the database has no tables of Berth')
    const nowhere = {
      env: {
        PATH: process.env['PATH'],
        NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
        BERTH_DATA_DIR: join(folder, 'nowhere'),
      },
    }
    await expect(run(process.execPath, words('-'), nowhere)).rejects.toMatchObject({
      code: 3,
      stderr: expect.stringContaining('has no database: set BERTH_DATA_DIR'),
    })
    expect(await readdir(folder)).not.toContain('nowhere')
  })

  it('is written no faster than its maximum rate, and stops when its signal is aborted', async () => {
    const beganMs = systemClock.monotonicMs()
    await backUpTo(join(folder, 'rate.tar'), database.url, { bytesPerSecondMax: 100_000 })
    expect(systemClock.monotonicMs() - beganMs).toBeGreaterThan(2_000) // 100,000 bytes as hexadecimal digits
    const late = new AbortController()
    const taking = backUpTo(join(folder, 'late.tar'), database.url, {
      bytesPerSecondMax: 10,
      signal: late.signal,
      onProgress: () => late.abort(new Error('too late')),
    })
    await expect(taking).rejects.toThrow('too late')
  })

  it('leaves out the output of jobs if requested; after the restore readers get a gap instead', async () => {
    const file = join(folder, 'no-logs.tar')
    const { manifest } = await backUpTo(file, database.url, { withLogs: false })
    expect(manifest).toMatchObject({ withLogs: false, logs: [] })
    expect(String(await readFile(file))).not.toContain('7878787878')
    await using empty = await createEmptyDatabase(database)
    await restoreTo(empty.url, file)
    const [job] = await empty.db.sql.query<{ id: string }>('SELECT id FROM job')
    expect(await readLogGaps(empty.db.sql, job?.id ?? '', undefined)).toMatchObject([{ reason: 'RETENTION' }])
    expect(await findChangedLogs({ query: empty.db.pool.query.bind(empty.db.pool) }, manifest.logs)).toEqual([])
  })

  it.each([true, false])(
    'includes the files of snapshots (%s); without them clients must send a snapshot again',
    async (withFiles) => {
      const ann = await world.user(`ann-${withFiles}`, 'RESEARCHER')
      const files = { large: randomBytes(600_000), small: 'small' }
      const { id } = await storeSnapshot(world.domain, ann, files)
      const job = await world.submit({ snapshot: id }, ann)
      const file = join(folder, `files-${withFiles}.tar`)
      expect((await backUpTo(file, database.url, { withFiles })).manifest).toMatchObject({ withFiles })
      await using empty = await createEmptyDatabase(database)
      await restoreTo(empty.url, file)
      const restored = { ...world.domain, db: empty.db }
      const [row] = await empty.db.sql.query('SELECT snapshot_id AS snapshot FROM job WHERE id = $1', [job])
      expect(row).toEqual({ snapshot: id })
      const read = () => buffer(readArchive(empty.db.sql, id, { mtime: new Date() }))
      if (!withFiles) await expect(read()).rejects.toThrow('not found')
      expect(await storeSnapshot(restored, ann, files)).toMatchObject({
        id,
        sent: withFiles ? [] : [expect.any(String), expect.any(String)],
      })
      expect((await read()).indexOf(files.large)).toBeGreaterThan(0)
    },
  )
})
