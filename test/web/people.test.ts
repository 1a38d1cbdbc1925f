import { expect, it } from 'vitest'
import { createViewer, listPermissions as permissionsOfLevel, userLevels } from '../../src/domain/access.ts'
import { formatPermission, levels, listPermissions, needs, permissions, scopes } from '../../web/ground/permissions.ts'
import { describeChanges, mergeDraft } from '../../web/parts/changed-values.ts'

const person = { id: 'user_a', name: 'ann', allow: [], deny: [] }

it('the console has the same permissions for each level as the server', () => {
  expect(levels).toEqual(userLevels)
  for (const level of levels)
    expect(listPermissions({ level, allow: [], deny: [] }).map(formatPermission).toSorted()).toEqual(
      [...permissionsOfLevel(level)].toSorted(),
    )
})

it('the console has the same scope for each permission as the server', () => {
  for (const scope of scopes) {
    const { permissions: found } = createViewer({ ...person, level: 'ADMIN' }, { scopes: [scope] })
    const known = permissions.filter((each) => needs[each].scope === scope || needs[each].scope === 'READ')
    expect(known.map(formatPermission).toSorted()).toEqual([...found].toSorted())
  }
})

it('listPermissions removes denied permissions from those of the level and from allowed ones', () => {
  const found = listPermissions({ level: 'VIEWER', allow: ['AUDIT_READ', 'JOB_SUBMIT'], deny: ['JOB_SUBMIT'] })
  expect(found).toEqual(['JOB_VIEW_OWN', 'VIEW_WRITE', 'AUDIT_READ'])
})

it('describeChanges names the fields whose values differ', () => {
  const before = { level: 'LEAD', teams: '', email: 'a@example.org' }
  expect(describeChanges(before, { ...before, level: 'ADMIN', teams: 'ml' })).toBe(
    'level was LEAD and is ADMIN; teams was empty and is ml',
  )
  expect(describeChanges(before, before)).toBe('')
})

it('mergeDraft keeps edited fields, and has the values of the stored object in other fields', () => {
  const before = { name: 'ann', email: '', teams: ['ml'] }
  const now = { name: 'ann', email: 'ann@example.org', teams: [] }
  expect(mergeDraft({ ...before, teams: ['ml'] }, before, now)).toEqual(now)
  expect(mergeDraft({ ...before, teams: ['vision'] }, before, now)).toEqual({ ...now, teams: ['vision'] })
})
