import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { isPrivateAddress } from '../../src/webhooks/destination.ts'
import { computePauseMs, readRetryAfter } from '../../src/webhooks/retry.ts'
import { signMessage } from '../../src/webhooks/signature.ts'

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`

describe('the signatures of webhooks', () => {
  const [secret, old] = [newSecret(), newSecret()]
  const body = '{"type":"job.failed","data":{"name":"größe"}}'
  const headers = signMessage({ id: 'msg_1', body, atMs: Date.now() }, [secret, old])

  test('are accepted by the library of Standard Webhooks, with either secret', () => {
    for (const each of [secret, old]) expect(new Webhook(each).verify(body, headers)).toEqual(JSON.parse(body))
    expect(() => new Webhook(newSecret()).verify(body, headers)).toThrow()
  })

  test('are rejected for a changed byte, another id and an old timestamp', () => {
    const webhook = new Webhook(secret)
    expect(() => webhook.verify(body.replace('failed', 'faileD'), headers)).toThrow()
    expect(() => webhook.verify(body, { ...headers, 'webhook-id': 'msg_2' })).toThrow()
    const late = signMessage({ id: 'msg_1', body, atMs: Date.now() - 301_000 }, [secret])
    expect(() => webhook.verify(body, late)).toThrow(/old/)
    expect(() => webhook.verify(body, { ...late, 'webhook-timestamp': headers['webhook-timestamp'] ?? '' })).toThrow()
  })
})

describe('the pauses between deliveries', () => {
  test('grow from 1 s to 1 h over ten tries', () => {
    const pauses = Array.from({ length: 9 }, (_, i) => computePauseMs(i + 1, 0.5))
    expect(pauses[0]).toBe(1_000)
    expect(pauses[8]).toBe(3_600_000)
    expect(pauses).toEqual([...pauses].sort((a, b) => a - b))
  })

  test('vary by a fifth, and stay between 1 s and 1 h', () => {
    expect([computePauseMs(5, 0), computePauseMs(5, 1)]).toEqual([48_000, 72_000])
    expect([computePauseMs(1, 0), computePauseMs(9, 1)]).toEqual([1_000, 3_600_000])
  })

  test.each([
    ['120', 120_000],
    ['0', 1_000],
    ['999999', 3_600_000],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 1_000],
    ['soon', undefined],
    [undefined, undefined],
  ])('follow the header Retry-After within bounds: %s', (header, pause) => {
    expect(readRetryAfter(header, Date.UTC(2026, 0, 1))).toBe(pause)
  })
})

test.each([
  ...['127.0.0.1', '10.1.2.3', '172.31.0.1', '192.168.1.1', '::1', 'fd00::1', '::ffff:10.0.0.1'].map((each) => [
    each,
    true,
  ]),
  ...['8.8.8.8', '172.32.0.1', '169.254.169.254', '0.0.0.0', '2001:db8::1', '::ffff:8.8.8.8', 'localhost'].map(
    (each) => [each, false],
  ),
] as [string, boolean][])('whether the address %s is private: %s', (address, isPrivate) => {
  expect(isPrivateAddress(address)).toBe(isPrivate)
})
