import { expect, test } from 'vitest'
import { setScopeLimit } from '../../../src/domain/limits/limits.ts'
import { openTestDomain } from '../../support/domain.ts'
import { submitJobs } from '../../support/submit-jobs.ts'

const { it } = await openTestDomain()

test('gpuIds and limits on GPU models are refused in a pool whose backend chooses the GPUs', async () => {
  await it.domain.db.sql.query("UPDATE pool SET executors = '{kubernetes}'")
  const [outcome] = await submitJobs(it.domain, it.admin, [
    { spec: { command: ['true'], resources: { gpu: 1, gpuIds: [0] } } },
  ]).catch((error: unknown) => [error])
  expect(outcome).toMatchObject({
    violations: [
      {
        path: ['spec', 'resources', 'gpuIds'],
        message: 'Executor kubernetes chooses the GPUs; leave gpuIds out, or give a gpuModel',
      },
    ],
  })
  const limit = { scope: 'USER' as const, name: it.admin.userName, maxGpus: 1 }
  await expect(setScopeLimit(it.domain, it.admin, { ...limit, gpuModel: 'h100' })).rejects.toThrow(/chooses the GPUs/)
  await setScopeLimit(it.domain, it.admin, limit)
})

const refusalOf = async (spec: object) => {
  const [outcome] = await submitJobs(it.domain, it.admin, [{ spec }]).catch((error: unknown) => [error])
  return outcome
}

test('a Kubernetes job without a command is refused', async () => {
  await it.domain.db.sql.query("UPDATE pool SET executors = '{kubernetes}'")
  expect(await refusalOf({ image: 'busybox' })).toMatchObject({
    violations: [
      { path: ['spec', 'command'], message: 'Executor kubernetes cannot read the command of an image; specify it' },
    ],
  })
  expect(await refusalOf({ image: 'busybox', executable: 'true' })).not.toBeInstanceOf(Error)
})

test('the DNS name of a job is stored, and refused if it is too long', async () => {
  await it.domain.db.sql.query("UPDATE pool SET executors = '{kubernetes}'")
  const ask = (name: string) => refusalOf({ command: ['true'], internalDns: { name, ports: [{ port: 80 }] } })
  const names = `SELECT spec -> 'internalDns' ->> 'name' AS name FROM job WHERE spec -> 'internalDns' <> 'null'`
  expect(await ask('web')).not.toBeInstanceOf(Error)
  const [stored] = await it.domain.db.sql.query<{ name: string }>(names)
  expect(stored?.name).toMatch(/^dns-[a-z0-9-]+-web$/)
  expect(await ask('w'.repeat(63))).toMatchObject({ violations: [{ path: ['spec', 'internalDns', 'name'] }] })
})
