import { describe, expect, it } from 'vitest'
import {
  type ApprovalCondition,
  type ApprovalItem,
  type ApprovalRule,
  decideApprovalNeed,
} from '../../../src/domain/control/approval-rules.ts'
import { BadPattern, parsePattern } from '../../../src/domain/pattern.ts'

const item: ApprovalItem = {
  level: 'RESEARCHER',
  name: 'train-large',
  executor: 'local',
  cost: 60,
  currency: 'EUR',
  hardware: [],
  gpuModel: ['h100'],
  cpuModel: ['!xeon'],
  jobsLastDay: 4,
  isFirstJob: false,
}

const rule = (condition: ApprovalCondition, more: Partial<ApprovalRule> = {}): ApprovalRule => ({
  id: 'rule_1',
  name: 'a rule',
  priority: 0,
  enabled: true,
  condition,
  exemptLevels: [],
  requiredLevel: 'LEAD',
  expiresAfterSeconds: 60,
  ...more,
})

describe('approval rules', () => {
  it.each([
    ['EUR', 295.68, 'Costs EUR 295.68, more than EUR 50 (rule a rule)'],
    [null, 295.68, 'Costs 295.68, more than 50 (rule a rule)'],
    ['EUR', Number.POSITIVE_INFINITY, expect.stringMatching(/^May cost more than EUR 50, /)],
  ])('show the currency %s in the reason for a cost of %d', (currency, cost, reason) => {
    expect(decideApprovalNeed([rule({ costAbove: 50 })], { ...item, currency, cost })?.reason).toEqual(reason)
  })

  it.each<[ApprovalCondition, Partial<ApprovalItem>, boolean]>([
    [{ costAbove: 50 }, {}, true],
    [{ costAbove: 60 }, {}, false],
    [{ costAbove: 0 }, { cost: null }, false],
    [{ hardware: '*H100*' }, {}, true],
    [{ hardware: 'h1?0' }, {}, true],
    [{ hardware: '*xeon*' }, {}, false],
    [{ hardware: '*' }, { gpuModel: [] }, false],
    [{ hardware: '*a100*' }, { gpuModel: ['a10'], hardware: ['NVIDIA A100'] }, true],
    [{ hardware: '^NVIDIA [A-H]100$' }, { hardware: ['Nvidia a100'] }, true],
    [{ hardware: '^\\D+$' }, { gpuModel: [], hardware: ['Tesla'] }, true],
    [{ hardware: '^[A-_]\\d+$' }, {}, true],
    [{ hardware: '^[^H]\\d+$' }, {}, false],
    [{ costAbove: 50 }, { cost: Number.POSITIVE_INFINITY }, true],
    [{ executor: 'local' }, {}, true],
    [{ executor: 'slurm' }, {}, false],
    [{ levelNotIn: ['LEAD', 'ADMIN'] }, {}, true],
    [{ levelNotIn: ['RESEARCHER'] }, {}, false],
    [{ jobsPerDayAbove: 4 }, {}, true],
    [{ jobsPerDayAbove: 5 }, {}, false],
    [{ firstJob: true }, { isFirstJob: true }, true],
    [{ firstJob: true }, {}, false],
    [{ name: 'train-*' }, {}, true],
    [{ name: '*LARGE' }, {}, false],
    [{ name: '^(train|eval)-[a-z]+$' }, {}, true],
    [{ name: '^rain-.*$' }, {}, false],
    [{ name: '*' }, { name: null }, false],
  ])('with the rules %j require approval of the job %j: %s', (condition, change, expected) => {
    expect(decideApprovalNeed([rule(condition)], { ...item, ...change }) !== null).toBe(expected)
  })

  it('are tried in order until one matches, and do not apply to exempt levels', () => {
    const rules = [
      rule({ costAbove: 1 }, { name: 'exempt', exemptLevels: ['RESEARCHER'] }),
      rule({ costAbove: 100 }, { name: 'no match' }),
      rule({ executor: 'local' }, { name: 'decides', requiredLevel: 'ADMIN' }),
      rule({ costAbove: 1 }, { name: 'too late' }),
    ]
    expect(decideApprovalNeed(rules, item)).toMatchObject({
      rule: 'decides',
      requiredLevel: 'ADMIN',
      expiresAfterSeconds: 60,
    })
    expect(decideApprovalNeed([], item)).toBeNull()
  })
})

describe('patterns of approval rules', () => {
  it.each(
    [
      ['a*c', ['ac', 'abc', 'a*c'], ['ab', 'xac', 'acx']],
      ['a?c', ['abc', 'a?c'], ['ac', 'abbc']],
      ['a.c[x]', ['a.c[x]'], ['abcx']],
      ['^$', [''], ['a']],
      ['^a|bc$', ['a', 'bc'], ['ac', 'ab']],
      ['^(a|b)*c$', ['c', 'abac'], ['abd']],
      ['^a{2,3}$', ['aa', 'aaa'], ['a', 'aaaa']],
      ['^a{2,}b{1}$', ['aab', 'aaaaab'], ['ab', 'aabb']],
      ['^(?:ab)?c+$', ['c', 'abcc'], ['ab', 'ac']],
      ['^[^a-c\\d]\\w\\s\\.$', ['xy .'], ['ay .', '1y .', 'xyz.']],
      ['^[]$', [], []],
      ['^\\D[a\\-z]-$', ['x--', 'xa-'], ['1a-', 'xb-']],
      ['^(a*)*b$', ['b', 'aab'], ['aac']],
      ['^.$', ['é', '😀'], ['ab']],
    ].filter(([pattern]) => pattern !== '^[]$'),
  )('match the expected texts: %s', (pattern, matching, others) => {
    const { matches } = parsePattern(String(pattern))
    for (const text of matching ?? []) expect(matches(text), text).toBe(true)
    for (const text of others ?? []) expect(matches(text), text).toBe(false)
  })

  it.each([
    '',
    'x'.repeat(256),
    '^(a$',
    '^a)$',
    '^[a$',
    '^[]$',
    '^a**$',
    '^a{3,2}$',
    '^a{1000}$',
    '^(a{999}){9}$',
    '^(?=a)$',
    '^\\1$',
    '^\\b$',
    '^*a$',
    '^a\\$',
    '^a^b$',
    '^[b-a]$',
    '^a+?$',
  ])('are refused if they are malformed: %s', (pattern) => {
    expect(() => parsePattern(pattern)).toThrow(BadPattern)
  })

  it('match in linear time even if backtracking would take exponential time', () => {
    expect(parsePattern('^(a+)+(a|a)*(.*.*.*)*b$').matches('a'.repeat(255))).toBe(false)
  })
})
