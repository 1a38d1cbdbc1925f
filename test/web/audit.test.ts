import { expect, it } from 'vitest'
import { formatClockDifference, listScripts } from '../../web/pages/about/check-texts.ts'
import { listDetails, toAuditFilter } from '../../web/pages/audit/audit-filter.ts'

const nowMs = Date.parse('2026-11-24T10:00:00Z')
const context = { users: new Map([['ann', 'user_1']]), nowMs }

it('the URL of the audit log is its filter', () => {
  const search = {
    operation: 'job.*, user.create',
    actor: 'ann,user_2',
    object: 'job_1',
    since: '24h',
    until: '2026-11-24',
  }
  expect(toAuditFilter(search, context)).toEqual({
    filter: {
      operations: ['job.*', 'user.create'],
      actors: ['user_1', 'user_2'],
      objectIds: ['job_1'],
      since: '2026-11-23T10:00:00.000Z',
      until: '2026-11-24T00:00:00.000Z',
    },
    problems: [],
  })
  expect(toAuditFilter({}, context).filter).toEqual({})
})

it('the beginning of an operation stands for all that begin so', () => {
  expect(toAuditFilter({ operation: 'us,user.create' }, context).filter.operations).toEqual(['us*', 'user.create'])
})

it('a filter of the audit log names each value that it cannot have', () => {
  expect(toAuditFilter({ actor: 'nemo', since: 'soon' }, context).problems).toEqual([
    'soon is not a time: write 24h, 7d or 2026-11-24.',
    'No user has the name nemo.',
  ])
})

it('the details of an entry are fields, with a change as one line', () => {
  expect(listDetails({ from: null, to: 5 })).toEqual([['change', 'null → 5']])
  expect(listDetails({ name: 'ann', limits: { maxConcurrent: 8 }, teams: ['ml'] })).toEqual([
    ['name', 'ann'],
    ['limits.maxConcurrent', '8'],
    ['teams', '["ml"]'],
  ])
  expect(listDetails(null)).toEqual([])
})

it('the self-check compares clocks and builds', () => {
  expect(formatClockDifference(300)).toBe('The clocks agree.')
  expect(formatClockDifference(-3 * 3_600_000)).toContain('180 min behind')
  expect(listScripts('<script type="module" crossorigin src="./assets/index-ab1.js"></script>')).toEqual([
    'index-ab1.js',
  ])
})
