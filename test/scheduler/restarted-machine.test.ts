import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readHoldingRuns } from '../../src/domain/jobs/runs.ts'
import type { Executor } from '../../src/executors/executor.ts'
import { createLocalExecutor } from '../../src/executors/local/local.ts'
import { type ChunkRow, chunkColumns, readChunk } from '../../src/logs/chunk.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { Carrier } from '../../src/scheduler/run-carrier.ts'
import { makeDirectory } from '../support/directory.ts'
import { createTestDomain } from '../support/domain.ts'
import { bindVerbs } from '../support/executor-verbs.ts'
import { carrierOptions, createLeader } from '../support/leader.ts'
import { until } from '../support/until.ts'

test('the output that a run wrote before its machine was restarted is read before the log is closed', async () => {
  await using world = await createTestDomain({ pool: { executors: ['local'] } })
  const { database, it } = world
  const spoolDir = makeDirectory()
  const log = createLog('error')
  const local = await createLocalExecutor({
    spoolDir,
    environment: process.env,
    clock: systemClock,
    time: it.time,
    log,
  })
  const { sql } = database.db
  const leader = await createLeader(it.domain, 'sim')
  const go = join(spoolDir, 'go')
  const script = `echo first; until [ -e '${go}' ]; do sleep 0.02; done; echo last; sleep 600`
  const jobId = await it.submit({ command: ['sh', '-c', script] })
  await leader.tick()
  const due = async () => {
    const [run] = await readHoldingRuns(sql, { pool: 'sim', epoch: 1, holder: 'test' })
    if (!run) throw new Error('Nothing runs')
    return run
  }
  const carry = async (executor: Executor, signal: AbortSignal) =>
    new Carrier(await due(), executor, { ...carrierOptions(it.domain, leader), signal, inherited: false })

  const server = new AbortController()
  const before = await carry(local, server.signal)
  const stored = async () => {
    const rows = await sql.query<ChunkRow>(`SELECT ${chunkColumns} FROM log_chunk c ORDER BY c.start_offset`)
    return rows.map(readChunk).map((chunk) => ('bytes' in chunk ? Buffer.from(chunk.bytes).toString() : chunk.gap))
  }
  await until(async () => (await stored()).length > 0, { what: 'the first line is stored' })
  server.abort()
  await before.done
  await writeFile(go, '')
  const { runId } = await due()
  const directory = join(spoolDir, 'runs', runId)
  const spooled = () => readFile(join(directory, 'stdout'), 'utf8')
  await until(async () => (await spooled()).includes('last'), { what: 'the last line is in the spool' })
  await crash(directory)

  const told = Promise.withResolvers<void>()
  const late: Executor = {
    ...bindVerbs(local),
    async *logs(...asked) {
      await told.promise
      yield* local.logs(...asked)
    },
  }
  const after = await carry(late, new AbortController().signal)
  await until(() => after.handle !== null, { what: 'the run is taken up' })
  const [seen] = await local.inspect([runId])
  expect(seen).toMatchObject({ state: 'gone', info: 'The machine was restarted' })
  await after.observed(seen ?? { state: 'gone' }, it.time.nowMs())
  told.resolve()
  await after.done
  expect((await stored()).join('')).toBe('first\nlast\n')
  expect(await sql.query('SELECT state FROM job WHERE id = $1', [jobId])).toEqual([{ state: 'INTERRUPTED' }])
  expect(existsSync(directory)).toBe(false)
  await local.close()
})

/** Kills all processes of the run at once, and makes its journal belong to another boot. */
async function crash(directory: string): Promise<void> {
  const journal = join(directory, 'journal')
  const records = (await readFile(journal, 'utf8')).split('\n').map((record) => record.split(' '))
  const [claim = [], session = []] = ['claim', 'session'].map((word) => records.find(([first]) => first === word))
  for (const leader of [claim[1], session[1]].map(Number)) process.kill(-leader, 'SIGKILL')
  claim[3] = 'an-earlier-boot'
  await writeFile(journal, `${records.map((fields) => fields.join(' ')).join('\n')}`)
}
