import { expect, it } from 'vitest'
import { formatClockDifference, listScripts } from '../../web/pages/about/check-texts.ts'
import { listDetails, nameObject, toAuditFilter } from '../../web/pages/audit/audit-filter.ts'
import { foldRows } from '../../web/parts/fold-rows.ts'
import { formatMoment } from '../../web/parts/format.ts'

const nowMs = Date.parse('2026-11-24T10:00:00Z')
const context = { users: new Map([['ann', 'user_1']]), nowMs }

it('toAuditFilter reads the filter from the URL', () => {
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

it('toAuditFilter adds * to the beginning of an operation, but not to a whole one', () => {
  expect(toAuditFilter({ operation: 'us,user.create' }, context).filter.operations).toEqual(['us*', 'user.create'])
})

it('toAuditFilter reports each invalid value', () => {
  expect(toAuditFilter({ actor: 'nemo', since: 'soon' }, context).problems).toEqual([
    'soon is not a time: write 24h, 7d or 2026-11-24.',
    'No user has the name nemo.',
  ])
})

it('listDetails lists the fields of an entry, with the old and the new value on one line', () => {
  expect(listDetails({ from: null, to: 5 })).toEqual([['change', 'null → 5']])
  expect(listDetails({ name: 'ann', limits: { maxConcurrent: 8 }, teams: ['ml'] })).toEqual([
    ['name', 'ann'],
    ['limits.maxConcurrent', '8'],
    ['teams', '["ml"]'],
  ])
  expect(listDetails(null)).toEqual([])
})

it('the self-check compares the clocks and the builds of servers and console', () => {
  expect(formatClockDifference(300)).toBe('The clocks agree.')
  expect(formatClockDifference(-3 * 3_600_000)).toContain('180 min behind')
  expect(listScripts('<script type="module" crossorigin src="./assets/index-ab1.js"></script>')).toEqual([
    'index-ab1.js',
  ])
})

it('foldRows folds three or more consecutive equal rows into one, until the user unfolds them', () => {
  const rows = ['a1', 'a2', 'a3', 'b1', 'a4', 'a5']
  const fold = (...open: string[]) =>
    foldRows(rows, { getKey: (row) => row, describe: ([kind = '']) => kind, open: new Set(open) }).map(
      ({ row, equal, isOpen }) => [row, equal?.length ?? 1, isOpen],
    )
  const rest = ['b1', 'a4', 'a5'].map((row) => [row, 1, false])
  expect(fold()).toEqual([['a1', 3, false], ...rest])
  expect(fold('a2')).toEqual([['a1', 3, true], ['a2', 1, true], ['a3', 1, true], ...rest])
})

it('nameObject returns the current name, or else the name in the entry, or else the id', () => {
  const entry = (detail: object) => ({ objectId: 'job_1', detail }) as Parameters<typeof nameObject>[0]
  expect(nameObject(entry({ name: 'then' }), new Map([['job_1', 'today']]))).toBe('today')
  expect(nameObject(entry({ name: 'then' }), new Map())).toBe('then')
  expect(nameObject(entry({}), new Map())).toBe('job_1')
})

it('formatMoment shows the time with seconds, and the date if it is not today', () => {
  const at = new Date(2026, 10, 24, 9, 5, 7).getTime()
  expect(formatMoment(at, at + 60_000)).toBe('09:05:07')
  expect(formatMoment(at, at + 86_400_000)).toBe('24 Nov 09:05:07')
})
