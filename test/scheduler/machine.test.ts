import { expect, test } from 'vitest'
import { readMachine } from '../../src/domain/machine-report.ts'
import { createMachineReports } from '../../src/scheduler/machine.ts'
import { createDatabase } from '../support/database.ts'
import { createTestDomain } from '../support/domain.ts'
import { createLeader } from '../support/leader.ts'
import { until } from '../support/until.ts'

test('the leader of a local pool tells how its machine is, and an old report is none', async () => {
  await using database = await createDatabase()
  await using it = await createTestDomain(database.db)
  const { sql } = database.db
  const reports = createMachineReports(it.domain, await createLeader(it.domain, 'sim'))
  reports.start()
  await reports.stop()
  expect(await readMachine(sql)).toBeNull()

  await sql.query("UPDATE pool SET machine = 'here'")
  const again = createMachineReports(it.domain, { pool: 'sim', epoch: 1 })
  again.start()
  await until(() => readMachine(sql), { what: 'the machine is reported' })
  await again.stop()
  expect(await readMachine(sql)).toEqual({ load5: expect.any(Number), memoryPercent: expect.any(Number) })
  const [node] = await sql.query<{ seen: boolean }>('SELECT last_seen_at <= berth_now() AS seen FROM node')
  expect(node).toEqual({ seen: true })

  await database.moveTime(31_000)
  const late = createMachineReports(it.domain, { pool: 'sim', epoch: 0 })
  late.start()
  await late.stop()
  expect(await readMachine(sql)).toBeNull()
})
