import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { createLog } from '../../src/platform/log.ts'
import { redactSecrets } from '../../src/platform/redaction.ts'
import { recordLines } from '../support/recorded-lines.ts'

const random = randomBytes(32).toString('base64url')
const mac = `_${random.slice(1)}`
const whsec = `whsec_${randomBytes(32).toString('base64')}`
const jwt = `eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.${random}`

it.each([
  ['the token of a user', `berth_0123456789${random}`, 'berth_0123456789…'],
  ['the token of a run', `berth_run_01kaj0000000000000000000ab_${mac}`, 'berth_run_01kaj0000000000000000000ab_…'],
  ['the secret of a webhook', `[${whsec}]`, '[whsec_…]'],
  ['a header', 'authorization: Bearer a.b-c/d==', 'authorization: Bearer …'],
  ['a JWT', `token=${jwt}&more`, 'token=eyJ…&more'],
  [
    'the URL of a database',
    'cannot open postgres://ann:p@ss/w:rd@db:5432/berth',
    'cannot open postgres://ann:…@db:5432/berth',
  ],
  ['another URL', 'from https://ann:pass@example.org/path', 'from https://ann:…@example.org/path'],
  ['a parameter', 'postgres://db/berth?user=a&password=pass&x=1', 'postgres://db/berth?user=a&password=…&x=1'],
])('the redaction of %s keeps only the part that is not secret', (_what, text, rest) => {
  expect(JSON.parse(redactSecrets(JSON.stringify({ text }))).text).toBe(rest)
})

it.each(['a.', 'eyJ-', 'postgres://a:', 'a://b:', 'Bearer ', '"token":"', '-----BEGIN PRIVATE KEY-----'])(
  'the redaction of a line of half a megabyte of %j takes linear time',
  (part) => {
    // Quadratic time would take minutes.
    const line = JSON.stringify({ text: `${part.repeat(524_288 / part.length)} ://` })
    expect(redactSecrets(line).length).toBeGreaterThan(0)
  },
)

it('a private key is removed from a line of JSON', () => {
  const text = `-----BEGIN EC PRIVATE KEY-----\n${random}\n-----END EC PRIVATE KEY-----`
  expect(JSON.parse(redactSecrets(JSON.stringify({ text }))).text).not.toContain(random)
})

it.each([
  'berth_jobs',
  'run_01kaj0000000000000000000ab of berth_run_x',
  'https://example.org:8080/a@b',
  'a bearer',
  'the token: invalid',
  'http://127.0.0.1:4000/graphql',
])('the redaction leaves %j unchanged', (text) => {
  expect(redactSecrets(JSON.stringify({ text }))).toBe(JSON.stringify({ text }))
})

it('no secret appears in the messages, fields and errors of the log', () => {
  const { destination, lines } = recordLines()
  const log = createLog('info', { destination })
  const secret = `berth_0123456789${random}`
  const err = Object.assign(new Error(`no answer to ${secret}`, { cause: new Error(`Bearer ${random}`) }), {
    secret,
    detail: `Failing row contains (${random})`,
  })
  log.error({ err, authorization: random, request: { headers: { authorization: random } } }, `tried ${secret}`)
  log.child({ token: random }).info({ list: [{ url: `postgres://a:${random}@db/x` }] }, 'child')
  expect(lines).toHaveLength(2)
  expect(JSON.stringify(lines)).not.toContain(random)
})
