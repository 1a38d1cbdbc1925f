import { expect, it } from 'vitest'
import { readLastTerm, suggestKeys, suggestValues } from '../../web/features/jobs/filter/suggestions.ts'

it.each([
  ['', { before: '', key: null, value: '' }],
  ['user:me sta', { before: 'user:me ', key: null, value: 'sta' }],
  ['state:running,qu', { before: 'state:running,', key: 'state', value: 'qu' }],
  ['train ', { before: 'train ', key: null, value: '' }],
  ['http://x', { before: '', key: null, value: 'http://x' }],
])('readLastTerm returns the last term of %j', (text, term) => expect(readLastTerm(text)).toEqual(term))

it('suggestions for a label are first the keys, then the values of the chosen key', () => {
  const keys = [{ value: 'lr=', count: 3 }]
  expect(suggestValues(readLastTerm('label:l'), keys)).toEqual([{ text: 'label:lr=', label: 'lr=', count: 3 }])
  const values = [
    { value: 'lr=0.1', count: 2 },
    { value: 'lr=a b', count: 1 },
  ]
  expect(suggestValues(readLastTerm('user:me label:lr='), values).map(({ text }) => text)).toEqual([
    'user:me label:lr=0.1 ',
    'user:me label:"lr=a b" ',
  ])
})

it('suggestions for a filter are first the keys, then values of the chosen key with numbers of jobs', () => {
  expect(suggestKeys(readLastTerm('user:me sta')).map(({ text }) => text)).toEqual(['user:me state:'])
  const known = [
    { value: 'gpu', count: 12 },
    { value: 'cpu', count: 3 },
  ]
  expect(suggestValues(readLastTerm('pool:g'), known)).toEqual([{ text: 'pool:gpu ', label: 'gpu', count: 12 }])
  expect(suggestValues(readLastTerm('since:2'), []).map(({ label }) => label)).toEqual(['24h'])
})
