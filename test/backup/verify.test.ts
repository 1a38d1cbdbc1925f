import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { restoreOnTrial } from '../../src/backup/verify.ts'
import { audit } from '../../src/domain/audit/audit.ts'
import { chainAll } from '../../src/domain/audit/audit-chain.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { backUpTo } from '../support/backups.ts'
import { openTestDomainForEach } from '../support/domain.ts'
import { root } from '../support/sources.ts'
import { until } from '../support/until.ts'
import { isWhole } from '../support/whole.ts'

const log = createLog('silent')
let folder: string
const { database, it: world } = openTestDomainForEach()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'berth-backup-'))
  await chmod(folder, 0o755)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

beforeEach(async () => {
  for (let i = 0; i < 3; i++) await world.submit()
  await audit(
    database.db.sql,
    { ...world.admin, ip: null, token: null },
    [{ action: 'test.act', objectId: 'job_1' }],
    world.time.nowMs(),
  )
  await chainAll(world.domain)
})

async function takeAndTry() {
  const file = join(folder, 'backup.tar')
  await backUpTo(file, database.url)
  return restoreOnTrial({ file, log, clock: systemClock, signal: new AbortController().signal })
}

describe('backup verify', () => {
  it('accepts a good backup, and finds rows that were changed by hand', async () => {
    expect(await takeAndTry()).toMatchObject({ troubles: [], checks: expect.stringContaining('no problem found') })

    await database.db.sql.query(`UPDATE audit_entry SET actor_name = 'another' WHERE seq = 1`)
    expect(await takeAndTry()).toMatchObject({
      troubles: ['the restored data has problems'],
      checks: expect.stringMatching(/audit log: The entry 1 or the entry before it was changed/),
    })

    const changeVersion = (by: number) =>
      database.db.sql.query('UPDATE job SET version = version + $1 WHERE id = (SELECT max(id) FROM job)', [by])
    await changeVersion(1)
    expect((await takeAndTry()).checks).toMatch(/self-check: events are numbered 1, 2, 3 … up to the version: job_/)
    await changeVersion(-1) // for the self-check after each test
  })

  it('leaves no process and no folder behind, also after kill -9 at any time', async () => {
    const file = join(folder, 'backup.tar')
    await backUpTo(file, database.url)
    const temporary = await mkdtemp(join(folder, 'tmp-'))
    await chmod(temporary, 0o755)
    const killsMs = isWhole ? [700, 1_500, 3_000, 5_000] : [2_000]
    for (const afterMs of [...killsMs, 60_000]) {
      const child = spawn(process.execPath, [join(root, 'src/backup/main.ts'), '--', 'verify', file], {
        env: {
          PATH: process.env['PATH'],
          NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
          TMPDIR: temporary,
          DATABASE_URL: database.url,
        },
        stdio: 'ignore',
      })
      const ended = once(child, 'exit')
      await Promise.race([ended, setTimeout(afterMs)])
      child.kill('SIGKILL')
      await ended
      const isClean = async () =>
        (await readdir(temporary)).length === 0 && (await findProcesses(temporary)).length === 0
      await until(isClean, { what: `nothing is left after ${afterMs} ms` })
    }
    const [record] = await database.db.sql.query('SELECT verified_at, restore_seconds FROM backup_record')
    expect(record).toMatchObject({ verified_at: expect.any(Date), restore_seconds: expect.any(Number) })
  })
})

/** Lists processes that work in the folder, or name it in their arguments. */
async function findProcesses(path: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = pids.map(async (pid) => {
    const texts = [readlink(`/proc/${pid}/cwd`), readFile(`/proc/${pid}/cmdline`, 'utf8')]
    const [cwd, command] = await Promise.all(texts.map((text) => text.catch(() => '')))
    return cwd?.includes(path) || command?.includes(path) ? [pid] : []
  })
  return (await Promise.all(found)).flat()
}
