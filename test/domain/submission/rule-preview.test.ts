import { expect, test } from 'vitest'
import { Forbidden, InvalidInput } from '../../../src/domain/errors.ts'
import { previewApprovalRule } from '../../../src/domain/submission/rule-preview.ts'
import { openTestDomain } from '../../support/domain.ts'

const { database, it } = await openTestDomain()
const rita = await it.user('rita', 'RESEARCHER')
const dora = await it.user('dora', 'ADMIN')
const first = await it.submit({ name: 'train-1', estimatedCost: 5 }, rita)
const second = await it.submit({ name: 'eval', estimatedCost: 50 }, rita)
const third = await it.submit({ name: 'train-2' }, dora)

const preview = (rule: object, viewer = it.admin) => previewApprovalRule(database.db.sql, viewer, rule)

test.each<[string, object, string[]]>([
  ['a cost', { costAbove: 10 }, [second]],
  ['a name', { name: 'train-*' }, [third, first]],
  ['an executor', { executor: 'simulated' }, [third, second, first]],
  ['another executor', { executor: 'slurm' }, []],
  ['levels', { levelNotIn: ['ADMIN'] }, [second, first]],
  ['first jobs', { firstJob: true }, [third, first]],
  ['later jobs', { firstJob: false }, [second]],
  ['a number of jobs in 24 hours', { jobsPerDayAbove: 1 }, [second]],
  ['hardware that no node has', { hardware: '*h100*' }, []],
])('the preview of a rule on %s lists the jobs that it matches, newest first', async (_what, condition, jobIds) => {
  expect(await preview({ condition })).toEqual({ consideredCount: 3, jobIds })
})

test('the preview does not list jobs of exempt levels', async () => {
  const rule = { condition: { executor: 'simulated' }, exemptLevels: ['ADMIN'] }
  expect(await preview(rule)).toEqual({ consideredCount: 3, jobIds: [second, first] })
})

test('a preview requires rule.write, and considers only jobs that the caller may see', async () => {
  const rule = { condition: { costAbove: 1 } }
  await expect(preview(rule, rita)).rejects.toThrow(Forbidden)
  const clerk = await it.user('clerk', 'RESEARCHER', ['rule.write'])
  expect(await preview(rule, clerk)).toEqual({ consideredCount: 0, jobIds: [] })
})

test('a preview with an invalid condition is refused with the field', async () => {
  const error = await preview({ condition: { name: '^(?=a)$' } }).catch((each: unknown) => each)
  expect(error).toBeInstanceOf(InvalidInput)
  expect(error).toMatchObject({ violations: [{ path: ['condition', 'name'] }] })
})
