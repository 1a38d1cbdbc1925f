import { expect, it } from 'vitest'
import { formatFilter, parseFilter, toJobFilter } from '../../web/features/jobs/filter/filter-text.ts'

const context = {
  viewerId: 'user_1',
  users: new Map([['ben', 'user_2']]),
  teams: new Map([['vision', 'team_1']]),
  nowMs: Date.parse('2026-11-24T18:00:30Z'),
}

it.each([
  ['state:running,queued user:me label:sweep=lr', { state: 'running,queued', user: 'me', label: 'sweep=lr' }],
  ['train big', { text: 'train big' }],
  ['pool:gpu pool:cpu', { pool: 'gpu,cpu' }],
  ['project:"a b" x', { project: 'a b', text: 'x' }],
  ['unknown:thing', { text: 'unknown:thing' }],
  ['user:me state:', { user: 'me' }],
  ['state:failed ended:24h', { state: 'failed', ended: '24h' }],
  ['', {}],
])('the filter %j is parsed, and formatted as the same text', (text, search) => {
  expect(parseFilter(text)).toEqual(search)
  expect(parseFilter(formatFilter(search))).toEqual(search)
})

it('toJobFilter converts a filter to the input JobFilter', () => {
  const { filter, problems } = toJobFilter(
    parseFilter(
      'state:active,failed user:me,ben team:vision label:sweep=lr,done since:24h ended:1h node:gpu3 reason:oom_killed train',
    ),
    context,
  )
  expect(problems).toEqual([])
  expect(filter).toEqual({
    states: ['STARTING', 'RUNNING', 'CANCELLING', 'FAILED'],
    users: ['user_1', 'user_2'],
    teams: ['team_1'],
    labels: [{ key: 'sweep', value: 'lr' }, { key: 'done' }],
    createdAfter: '2026-11-23T18:00:00.000Z',
    finishedAfter: '2026-11-24T17:00:00.000Z',
    stateReasons: ['OOM_KILLED'],
    node: 'gpu3',
    text: 'train',
  })
})

it('toJobFilter reports an unknown value with its term in the text', () => {
  const { filter, problems } = toJobFilter({ state: 'runing', user: 'nobody', team: 'none', since: 'soon' }, context)
  expect(filter).toEqual({})
  expect(problems.map(({ key }) => key)).toEqual(['state', 'user', 'team', 'since'])
})
