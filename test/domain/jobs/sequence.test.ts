import { expect, test } from 'vitest'
import { cancelJob } from '../../../src/domain/control/cancel.ts'
import { sequenceOnce } from '../../../src/domain/jobs/sequence.ts'
import { createDatabase } from '../../support/database.ts'
import { createTestDomain } from '../../support/domain.ts'

test('12 writers, 4 sequencers: positions are dense, in commit order, and per job in the order of seq', async () => {
  await using database = await createDatabase()
  await using it = await createTestDomain(database.db)
  const read = () =>
    database.db.sql.query<{ jobId: string; seq: number; position: number }>(
      'SELECT job_id AS "jobId", seq, position FROM event WHERE position IS NOT NULL ORDER BY position',
    )
  let writing = true
  let head = 0
  async function sequencer() {
    while (writing) await sequenceOnce(it.domain)
  }
  /** A reader that goes on from what it saw must never find anything behind it. */
  async function reader() {
    while (writing) {
      const rows = await read()
      expect(rows.slice(0, head).map(({ position }) => position)).toEqual(Array.from({ length: head }, (_, i) => i + 1))
      head = rows.length
    }
  }
  async function writer() {
    for (let i = 0; i < 10; i++) {
      const jobId = await it.submit()
      await cancelJob(it.domain, it.admin, { jobId })
    }
  }
  const others = [sequencer(), sequencer(), sequencer(), sequencer(), reader()]
  await Promise.all(Array.from({ length: 12 }, writer))
  writing = false
  await Promise.all(others)
  await it.sequence()

  const rows = await read()
  expect(rows.map(({ position }) => position)).toEqual(Array.from({ length: 240 }, (_, i) => i + 1))
  for (const events of Map.groupBy(rows, ({ jobId }) => jobId).values())
    expect(events.map(({ seq }) => seq)).toEqual([1, 2])
})
