import { expect, test } from 'vitest'
import { Rejected, settled } from '../../../src/domain/errors.ts'
import { deleteNode } from '../../../src/domain/machines/node-changes.ts'
import { previewJob } from '../../../src/domain/submission/preview.ts'
import { submitAll } from '../../../src/domain/submission/submit.ts'
import { openTestDomain } from '../../support/domain.ts'

const { database, it } = await openTestDomain({ pool: { scheduling: { onUnsatisfiable: 'FAIL' } } })

const spec = (cpu: number) => ({ command: ['true'], resources: { cpu } })
const submitted = async (cpu: number, wish: Record<string, unknown> = {}) =>
  (await submitAll(it.domain, it.admin, [{ ...wish, spec: spec(cpu) }]))[0]

test('a job that no node could ever run is refused and not stored', async () => {
  const preview = await settled(previewJob(it.domain, it.admin, { spec: spec(17) }))
  for (const outcome of [preview, await submitted(17), await submitted(17, { noWait: true })]) {
    expect(outcome).toBeInstanceOf(Rejected)
    expect(outcome).toMatchObject({
      retryable: false,
      reasons: [{ code: 'UNSATISFIABLE', message: 'No node of the pool can ever provide 17 cpu, 1 GiB' }],
    })
  }
  expect(await database.db.sql.query('SELECT id FROM job')).toEqual([])
  expect(await submitted(16)).toMatchObject({ jobId: expect.any(String) })
})

test('a job that is stored stays queued when the only node on which it fits is removed', async () => {
  const [node] = await database.db.sql.query<{ id: string }>('SELECT id FROM node')
  await deleteNode(it.domain, it.admin, { id: node?.id ?? '' })
  expect(await database.db.sql.query('SELECT state FROM job')).toEqual([{ state: 'QUEUED' }])
  expect(await submitted(1)).toBeInstanceOf(Rejected)
})
