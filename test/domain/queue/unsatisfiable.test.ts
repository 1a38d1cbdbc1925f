import { expect, test } from 'vitest'
import { Rejected } from '../../../src/domain/errors.ts'
import { deleteNode } from '../../../src/domain/machines/node-changes.ts'
import { type SubmissionOutcome, submitAll } from '../../../src/domain/submission/submit.ts'
import { openTestDomain } from '../../support/domain.ts'

const { database, it } = await openTestDomain({ pool: { scheduling: { onUnsatisfiable: 'FAIL' } } })

const submitted = async (cpu: number, wish: Record<string, unknown> = {}): Promise<SubmissionOutcome | undefined> =>
  (await submitAll(it.domain, it.admin, [{ ...wish, spec: { command: ['true'], resources: { cpu } } }]))[0]

test('what no node could ever run is refused where it is not to wait, and nothing is stored', async () => {
  for (const wish of [{}, { dryRun: true }, { noWait: true }]) {
    const outcome = await submitted(17, wish)
    expect(outcome).toBeInstanceOf(Rejected)
    expect(outcome).toMatchObject({
      retryable: false,
      reasons: [{ code: 'UNSATISFIABLE', message: 'No node of the pool can ever provide 17 cpu, 1 GiB' }],
    })
  }
  expect(await database.db.sql.query('SELECT id FROM job')).toEqual([])
  expect(await submitted(16)).toMatchObject({ jobId: expect.any(String) })
})

test('what could run when it was submitted stays when its node goes', async () => {
  const [node] = await database.db.sql.query<{ id: string }>('SELECT id FROM node')
  await deleteNode(it.domain, it.admin, { id: node?.id ?? '' })
  expect(await database.db.sql.query('SELECT state FROM job')).toEqual([{ state: 'QUEUED' }])
  expect(await submitted(1)).toBeInstanceOf(Rejected)
})
