import { expect, test } from 'vitest'
import {
  applyApprovalRules,
  createApprovalRule,
  deleteApprovalRule,
  updateApprovalRule,
} from '../../../src/domain/control/approval-rule-changes.ts'
import { readApprovalRules } from '../../../src/domain/control/approval-rules.ts'
import { openTestDomain } from '../../support/domain.ts'

const { database, it } = await openTestDomain()

const priorities = async () =>
  (await readApprovalRules(database.db.sql)).map(({ name, priority }) => `${name} ${priority}`)

test('new and changed approval rules of the configuration are applied, and changes made at run time are kept', async () => {
  const declared = (priority: number) => [
    { name: 'a', condition: { costAbove: 1 }, priority },
    { name: 'b', condition: { firstJob: true } },
  ]
  await Promise.all([applyApprovalRules(it.domain, declared(1)), applyApprovalRules(it.domain, declared(1))])
  expect(await priorities()).toEqual(['a 1', 'b 0'])
  const [a] = await readApprovalRules(database.db.sql)
  await updateApprovalRule(it.domain, it.admin, { id: a?.id, priority: 7 })
  await applyApprovalRules(it.domain, declared(1))
  expect(await priorities()).toEqual(['a 7', 'b 0'])
  await applyApprovalRules(it.domain, declared(3))
  expect(await priorities()).toEqual(['a 3', 'b 0'])
  const entries = await database.db.sql.query('SELECT action, actor_name AS who FROM audit_entry ORDER BY at, id')
  expect(entries.map(({ action, who }) => `${action} ${who}`)).toEqual([
    'rule.apply system',
    'rule.apply system',
    'rule.update local',
    'rule.apply system',
  ])
})

test('approval rules removed from the configuration are deleted, even if they were renamed; rules of users are kept', async () => {
  const declared = ['e', 'f', 'g'].map((name) => ({ name, condition: { firstJob: true } }))
  await applyApprovalRules(it.domain, declared)
  const idOf = async (name: string) =>
    (await readApprovalRules(database.db.sql)).find((rule) => rule.name === name)?.id ?? ''
  await updateApprovalRule(it.domain, it.admin, { id: await idOf('e'), name: 'renamed' })
  await deleteApprovalRule(it.domain, it.admin, { id: await idOf('f') })
  await createApprovalRule(it.domain, it.admin, { name: 'f', condition: { costAbove: 1 } })
  await applyApprovalRules(it.domain, declared)
  expect(await priorities()).toEqual(['renamed 0', 'g 0', 'f 0'])
  await applyApprovalRules(it.domain, [])
  expect(await priorities()).toEqual(['f 0'])
  const ended = await database.db.sql.query<{ name: string }>(
    "SELECT detail->>'name' AS name FROM audit_entry WHERE action = 'rule.delete' AND actor_id IS NULL AND detail->>'name' <> ALL('{a,b}')",
  )
  expect(ended.map(({ name }) => name).toSorted()).toEqual(['g', 'renamed'])
  await applyApprovalRules(it.domain, declared.slice(2))
  expect(await priorities()).toEqual(['f 0', 'g 0'])
})

test('an approval rule of the configuration with an unsafe pattern prevents the start', async () => {
  const declared = [{ name: 'c', condition: { name: '^(?<x>a)$' } }]
  await expect(applyApprovalRules(it.domain, declared)).rejects.toThrow(
    'approvalRules.0.condition.name: Is not a supported pattern',
  )
})

test('creating approval rules requires rule.write and a unique name, also with concurrent requests', async () => {
  const lead = await it.user('lena', 'LEAD')
  const input = { name: 'd', condition: { firstJob: true } }
  await expect(createApprovalRule(it.domain, lead, input)).rejects.toThrow('rule.write')
  const made = await Promise.allSettled(Array.from({ length: 5 }, () => createApprovalRule(it.domain, it.admin, input)))
  expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  await expect(updateApprovalRule(it.domain, it.admin, { id: 'rule_none', priority: 1 })).rejects.toThrow(
    'Approval rule rule_none not found',
  )
})
