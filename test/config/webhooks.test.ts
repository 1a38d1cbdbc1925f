import { expect, test } from 'vitest'
import { loadConfig } from '../../src/config.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`

const load = (webhooks: unknown, env = {}) =>
  loadConfig({ argv: ['--config', 'berth.yaml'], env, readFile: () => JSON.stringify({ webhooks }) }).webhooks

const variable = ['$', '{HOOK}'].join('')
const good = { name: 'ci', url: 'https://ci.example.org/berth', secret }

test('an endpoint has a name, a URL and one or two secrets; events and a filter are optional', () => {
  const [plain, full] = load(
    [
      { ...good, secret: variable },
      {
        ...good,
        name: 'x',
        secret: [secret, other],
        events: ['job.failed'],
        filter: { pools: ['a'], labels: { k: 'v' } },
      },
    ],
    { HOOK: secret },
  )
  expect(plain).toEqual({ name: 'ci', url: good.url, secrets: [secret], events: null, filter: {} })
  expect(full).toMatchObject({ secrets: [secret, other], events: ['job.failed'], filter: { pools: ['a'] } })
})

test.each([
  [
    { url: 'ftp://a.example' },
    'webhooks[0].url: the value is not an https or http URL without user, password and fragment',
  ],
  [{ url: 'https://user:pass@a.example' }, 'webhooks[0].url: the value is not'],
  [{ url: undefined }, 'webhooks[0].url: is missing'],
  [
    { secret: 'whsec_c2hvcnQ=' },
    'webhooks[0].secret: the value is not a secret of Standard Webhooks (whsec_ and 24 to 64 bytes',
  ],
  [{ secret: [secret, other, secret] }, 'webhooks[0].secret: the value is not'],
  [{ secret: undefined }, 'webhooks[0].secret: is missing'],
  [{ events: ['job.exploded'] }, 'webhooks[0].events[0]: "job.exploded" is not a known value; use job.created or'],
  [{ events: [] }, 'webhooks[0].events: is empty; name a type, or remove the key for all'],
  [{ filter: { pool: ['a'] } }, 'webhooks[0].filter.pool: is not a known key; did you mean pools?'],
  [{ filter: { labels: { k: 1 } } }, 'webhooks[0].filter.labels.k: 1 is not a string; put it in quotes'],
  [{ name: 'a b' }, 'webhooks[0].name: "a b" is not a name'],
])('an endpoint with a wrong value is refused with the name of the field: %j', (change, refusal) => {
  expect(() => load([{ ...good, ...change }])).toThrow(refusal)
})

test('the names of endpoints must be unique, and at most 20 endpoints are allowed', () => {
  expect(() => load([good, good])).toThrow('webhooks[1].name: "ci" is defined twice')
  const many = Array.from({ length: 21 }, (_, i) => ({ ...good, name: `n${i}` }))
  expect(() => load(many)).toThrow('webhooks: has 21 entries; keep at most 20')
})

test('an error message never shows a secret', () => {
  const wrong = [secret, [secret], { ...good, url: secret, secret: { key: secret } }, { ...good, name: [secret] }]
  for (const webhooks of [...wrong.map((each) => [each]), secret])
    try {
      load(webhooks)
      expect.unreachable()
    } catch (error) {
      expect(String(error)).toContain('webhooks')
      expect(String(error)).not.toContain(secret.slice(0, 12))
    }
})
