import { expect, test } from 'vitest'
import type { Viewer } from '../../../src/domain/access.ts'
import { InvalidInput } from '../../../src/domain/errors.ts'
import { reportPool } from '../../../src/domain/machines/pool-report.ts'
import { createUser, updateUser } from '../../../src/domain/people/users.ts'
import { openTestDomain } from '../../support/domain.ts'
import { submitJobs } from '../../support/submit-jobs.ts'

const { database, it } = await openTestDomain({ singleUser: false, pool: { executors: ['local', 'simulated'] } })

const report = (unixUserRequired: boolean, reservedUnixUsers: string[] = []) =>
  reportPool(it.domain, 'sim', { executors: {}, unixUserRequired, reservedUnixUsers })

async function outcomeOf(viewer: Viewer, spec: Record<string, unknown> = {}) {
  const [outcome] = await submitJobs(it.domain, viewer, [{ spec: { command: ['true'], ...spec } }])
  return outcome instanceof InvalidInput ? outcome.violations : outcome
}

async function userWith(name: string, unixUser: string | null): Promise<Viewer> {
  const viewer = await it.user(name, 'RESEARCHER')
  await database.db.sql.query('UPDATE "user" SET unix_user = $2 WHERE id = $1', [viewer.userId, unixUser])
  return viewer
}

test('a job that would run as root is refused with the remedy, and is not stored', async () => {
  const ann = await userWith('ann', null)
  await report(true)
  expect(await outcomeOf(ann)).toEqual([
    {
      path: ['spec', 'executor'],
      message:
        'local: the user ann has no unixUser, so the job would run as root in pool sim; ask an administrator to set one: ' +
        'berth user set ann --unix-user ACCOUNT, or to set jobsAsRoot of the pool',
    },
  ])
  expect(await database.db.sql.query('SELECT 1 FROM job')).toEqual([])
  expect(await outcomeOf(ann, { executor: 'simulated' })).toMatchObject({ jobId: expect.any(String) })
  await report(false)
  expect(await outcomeOf(ann)).toMatchObject({ jobId: expect.any(String) })
})

test('a job runs as the Unix account of its user, unless that account owns files of the server', async () => {
  await report(true, ['postgres'])
  expect(await outcomeOf(await userWith('ben', 'ben'))).toMatchObject({ jobId: expect.any(String) })
  expect(await outcomeOf(await userWith('cyd', 'postgres'))).toMatchObject([
    { path: ['spec', 'executor'], message: expect.stringMatching(/^local: jobs must not run as postgres, which owns/) },
  ])
})

test('only an ADMIN may set a Unix account; root and an account that owns files of the server are refused', async () => {
  await report(true, ['postgres'])
  const lead = await it.user('lead', 'LEAD', ['user.write'])
  const create = (viewer: Viewer, name: string, unixUser: string | null) =>
    createUser(it.domain, viewer, { name, level: 'VIEWER', unixUser })
  await expect(create(lead, 'dan', 'dan')).rejects.toMatchObject({ requiredPermission: 'level:ADMIN' })
  await expect(updateUser(it.domain, lead, { id: lead.userId, unixUser: null })).rejects.toMatchObject({
    requiredPermission: 'level:ADMIN',
  })
  const own = await createUser(it.domain, lead, { name: 'eve', level: 'VIEWER' })
  expect(own.id).toMatch(/^user_/)
  for (const reserved of ['root', 'postgres']) {
    const refusal = {
      violations: [{ path: ['unixUser'], message: expect.stringMatching(`^must not be ${reserved}: `) }],
    }
    await expect(create(it.admin, 'dan', reserved)).rejects.toMatchObject(refusal)
    await expect(updateUser(it.domain, it.admin, { id: own.id, unixUser: reserved })).rejects.toMatchObject(refusal)
  }
  await updateUser(it.domain, it.admin, { id: own.id, unixUser: 'eve' })
})
