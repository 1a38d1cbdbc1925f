import { describe, expect, test } from 'vitest'
import {
  createApprovalRule,
  deleteApprovalRule,
  updateApprovalRule,
} from '../../src/domain/control/approval-rule-changes.ts'
import { VersionConflict } from '../../src/domain/errors.ts'
import { readLimitsVersions, setScopeLimit, updateLimits } from '../../src/domain/limits/limits.ts'
import { createQuota, deleteQuota, updateQuota } from '../../src/domain/limits/stored-quotas.ts'
import { addNode, deleteNode, updateNode } from '../../src/domain/machines/node-changes.ts'
import { deleteView, saveView } from '../../src/domain/people/saved-views.ts'
import { createTeam, deleteTeam, updateTeam } from '../../src/domain/people/teams.ts'
import { createUser, disableUser, updateUser } from '../../src/domain/people/users.ts'
import { openTestDomain } from '../support/domain.ts'

const { database, it } = await openTestDomain()
const { domain, admin } = it

async function readVersion(table: string, id: string): Promise<number | undefined> {
  const [row] = await database.db.sql.query<{ version: number }>(`SELECT version FROM ${table} WHERE id = $1`, [id])
  return row?.version
}

interface Edited {
  table: string
  create: () => Promise<{ id: string }>
  change: (target: { id: string; expectedVersion?: number }) => Promise<unknown>
  remove: (target: { id: string; expectedVersion?: number }) => Promise<unknown>
}

const view = { name: 'v', page: '/jobs', search: '', visibility: 'USER', pinned: false }
const condition = { costAbove: 1 }

/** Each change differs from the state before. */
let count = 0
const edited: Record<string, Edited> = {
  user: {
    table: '"user"',
    create: () => createUser(domain, admin, { name: 'ann', level: 'RESEARCHER' }),
    change: (target) => updateUser(domain, admin, { ...target, displayName: `Ann ${++count}` }),
    remove: (target) => disableUser(domain, admin, target),
  },
  team: {
    table: 'team',
    create: () => createTeam(domain, admin, { name: 'ml' }),
    change: (target) => updateTeam(domain, admin, { ...target, name: `ml-${++count}` }),
    remove: (target) => deleteTeam(domain, admin, target),
  },
  quota: {
    table: 'quota',
    create: async () => ({
      id: await createQuota(domain, admin, { type: 'JOBS_PER_DAY', action: 'WARN', scope: 'GLOBAL', limit: 900 }),
    }),
    change: (target) => updateQuota(domain, admin, { ...target, limit: 900 + ++count }),
    remove: (target) => deleteQuota(domain, admin, target),
  },
  'approval rule': {
    table: 'approval_rule',
    create: () => createApprovalRule(domain, admin, { name: 'dear', condition }),
    change: (target) => updateApprovalRule(domain, admin, { ...target, priority: ++count }),
    remove: (target) => deleteApprovalRule(domain, admin, target),
  },
  node: {
    table: 'node',
    create: () => addNode(domain, admin, { pool: 'sim', name: 'n9', cpu: 1, memoryBytes: 2 ** 30 }),
    change: (target) => updateNode(domain, admin, { ...target, state: ++count % 2 === 0 ? 'CORDONED' : 'DRAINING' }),
    remove: (target) => deleteNode(domain, admin, target),
  },
  'saved view': {
    table: 'saved_view',
    create: () => saveView(domain, admin, view),
    change: (target) => saveView(domain, admin, { ...view, ...target, name: `v ${++count}` }),
    remove: (target) => deleteView(domain, admin, target),
  },
}

describe.each(Object.entries(edited))('a change of the %s', (kind, { table, create, change, remove }) => {
  test('raises the version of the object, and is refused for an old version', async () => {
    const { id } = await create()
    expect(await readVersion(table, id)).toBe(1)
    await change({ id, expectedVersion: 1 })
    await change({ id })
    expect(await readVersion(table, id)).toBe(3)
    for (const refused of [change, remove]) {
      const error = await refused({ id, expectedVersion: 2 }).catch((each: unknown) => each)
      expect(error).toBeInstanceOf(VersionConflict)
      expect(error).toMatchObject({
        message: expect.stringContaining(`The ${kind} is at version 3, not 2`),
        currentVersion: 3,
      })
    }
    expect(await readVersion(table, id)).toBe(3)
    await remove({ id, expectedVersion: 3 })
  })

  test('succeeds for only one of two users with the same version', async () => {
    const { id } = kind === 'user' ? await createUser(domain, admin, { name: 'ben', level: 'VIEWER' }) : await create()
    const settled = await Promise.allSettled([1, 2, 3].map(() => change({ id, expectedVersion: 1 })))
    expect(settled.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected'])
    expect(await readVersion(table, id)).toBe(2)
    await remove({ id })
  })
})

test('a change of members raises the versions of the team and of the user', async () => {
  const { id: team } = await createTeam(domain, admin, { name: 'both' })
  const { id: user } = await createUser(domain, admin, { name: 'eve', level: 'VIEWER', teams: [{ name: 'both' }] })
  const read = async () => [await readVersion('team', team), await readVersion('"user"', user)]
  expect(await read()).toEqual([2, 2])
  await updateTeam(domain, admin, { id: team, removeMembers: [user] })
  expect(await read()).toEqual([3, 3])
  await updateUser(domain, admin, { id: user, teams: [] })
  expect(await read()).toEqual([3, 3])
})

test('the version of a node stays the same when only its free resources change', async () => {
  const [node] = await database.db.sql.query<{ id: string }>("SELECT id FROM node WHERE name = 'n1'")
  const id = node?.id ?? ''
  const before = await readVersion('node', id)
  await database.db.sql.query('UPDATE node SET free_cpu_millis = free_cpu_millis - 1 WHERE id = $1', [id])
  await database.db.sql.query('UPDATE node SET free_cpu_millis = free_cpu_millis + 1 WHERE id = $1', [id])
  expect(await readVersion('node', id)).toBe(before)
})

test('the limits of a pool and of its scopes share one version', async () => {
  const read = async () => (await readLimitsVersions(database.db.sql, ['sim'])).get('sim')
  expect(await read()).toBe(1)
  const scope = { pool: 'sim', scope: 'PROJECT', name: 'p' }
  await setScopeLimit(domain, admin, { ...scope, maxJobs: 1, expectedVersion: 1 })
  expect(await read()).toBe(2)
  await updateLimits(domain, admin, { pool: 'sim', maxConcurrent: 3, expectedVersion: 2 })
  expect(await read()).toBe(3)
  await expect(setScopeLimit(domain, admin, { ...scope, maxJobs: 2, expectedVersion: 2 })).rejects.toThrow(
    VersionConflict,
  )
  await expect(updateLimits(domain, admin, { pool: 'sim', maxConcurrent: 4, expectedVersion: 2 })).rejects.toThrow(
    'The limits of the pool',
  )
  expect(await read()).toBe(3)
})
