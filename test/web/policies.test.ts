import { expect, it } from 'vitest'
import { describeCondition, toCondition, toConditionDraft } from '../../web/features/policies/conditions.ts'
import {
  describeLimitEffect,
  describeUse,
  type LimitUse,
  listExceeding,
} from '../../web/features/policies/limit-effects.ts'
import { describeQuotaEffect, describeScope, formatAmount } from '../../web/features/policies/quota-texts.ts'
import { describeHeld } from '../../web/pages/policies/reserved-nodes.ts'

const use: LimitUse = {
  running: 5,
  waiting: 3,
  gpus: 4,
  runningByUser: new Map([
    ['ben', 1],
    ['ann', 3],
  ]),
  runningByTeam: new Map([['ml', 4]]),
  unfinishedByUser: new Map([
    ['ann', 9],
    ['ben', 10],
  ]),
  blockedByUser: new Map(),
}

it('listExceeding names the users above a limit, the highest first', () => {
  expect(listExceeding(use.unfinishedByUser, 8)).toBe('ben is at 10 of 8, ann at 9 of 8')
  expect(listExceeding(use.unfinishedByUser, 10)).toBe('')
  const many = new Map(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [name, 2]))
  expect(listExceeding(many, 1)).toBe('a is at 2 of 1, b at 2 of 1, c at 2 of 1, d at 2 of 1, 2 more')
})

it('describeLimitEffect says how a new limit affects current jobs', () => {
  expect(describeLimitEffect('maxConcurrent', 0, use)).toBe(
    'Pauses the pool: 5 running jobs continue, 3 waiting jobs do not start.',
  )
  expect(describeLimitEffect('maxConcurrent', 8, use)).toBe('5 of 8 run; 3 more jobs could start.')
  expect(describeLimitEffect('maxConcurrent', 2, use)).toContain('none starts until fewer than 2 run')
  expect(describeLimitEffect('userMaxConcurrent', 2, use)).toBe(
    'ann is at 3 of 2: their running jobs continue, further ones wait.',
  )
  expect(describeLimitEffect('userMaxActive', 20, use)).toBe('Within the limit now.')
  expect(describeLimitEffect('userMaxActive', 9, use)).toContain('further submissions are refused')
  expect(describeLimitEffect('localGpuMaxConcurrent', null, use)).toBe('No limit.')
})

it('describeUse names the user who is nearest to the limit', () => {
  expect(describeUse('maxConcurrent', use)).toBe('5')
  expect(describeUse('userMaxConcurrent', use)).toBe('ann 3')
  expect(describeUse('userMaxBlocked', use)).toBe('')
})

it('describeQuotaEffect describes the effect of a quota', () => {
  expect(describeQuotaEffect('BLOCK', 8, new Map([['ann', 9]]))).toBe(
    'ann is at 9 of 8: jobs stay, a further submission is refused.',
  )
  expect(describeQuotaEffect('WARN', 8, new Map([['ann', 8]]))).toBe('All are below it now.')
  expect(describeScope({ kind: 'LEVEL', name: 'LEAD' })).toBe('each lead')
  expect(describeScope({ kind: 'TEAM', name: 'ml' })).toBe('team ml')
})

it('a quota by cost is shown in the currency of the pools', () => {
  expect(formatAmount('COST_PER_DAY', 1_234.5, 'EUR')).toBe('EUR\u00A01,234.50')
  expect(formatAmount('COST_PER_MONTH', 50, null)).toBe('50.00')
  expect(formatAmount('JOBS_PER_DAY', 1_234, 'EUR')).toBe('1,234')
})

const none = {
  costAbove: null,
  executor: null,
  firstJob: null,
  hardware: null,
  jobsPerDayAbove: null,
  levelNotIn: null,
  name: null,
}

it('the condition of a rule is not changed by its form, and is described in words', () => {
  const conditions = [
    { ...none, costAbove: 50 },
    { ...none, firstJob: false },
    { ...none, levelNotIn: ['LEAD' as const, 'ADMIN' as const] },
    { ...none, name: '^train-[0-9]+$' },
    { ...none, jobsPerDayAbove: 0 },
  ]
  for (const condition of conditions)
    expect({ ...none, ...toCondition(toConditionDraft(condition)) }).toEqual(condition)
  expect(conditions.map((each) => describeCondition(each, 'EUR'))).toEqual([
    'costs more than EUR\u00A050.00',
    'is not the first job of its user',
    'is of a user who is not lead or admin',
    'is named ^train-[0-9]+$',
    'comes after 0 jobs of its user in 24 hours',
  ])
  expect(toCondition({ kind: 'costAbove', text: ' ', levels: [] })).toBe(null)
})

it('describeHeld adds the resources of the reserved nodes', () => {
  const node = { capacity: { cpu: 64, gpu: 4, memoryBytes: 2 ** 39 } }
  expect(describeHeld([node, node])).toBe('2 nodes: 8 GPUs, 128 cores, 1 TiB')
})
