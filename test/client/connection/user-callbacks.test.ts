import { Client as UrqlClient } from '@urql/core'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { berthExchange } from '../../../src/client/caches/urql.ts'
import { RequestFailed } from '../../../src/client/connection/failure.ts'
import { createOutages } from '../../../src/client/connection/outages.ts'
import type { Client } from '../../../src/client/jobs/client.ts'
import { until } from '../../support/until.ts'

/** Callbacks of the program that throw: the error is reported as uncaught, and streams continue. */

const uncaught: string[] = []
let others: NodeJS.UncaughtExceptionListener[]
const note = ({ message }: Error) => void uncaught.push(message)

beforeEach(() => {
  uncaught.length = 0
  others = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException')
  process.on('uncaughtException', note)
})
afterEach(() => {
  process.removeListener('uncaughtException', note)
  for (const listener of others) process.on('uncaughtException', listener)
})

it('an urql subscriber that throws gets the next messages, and so do other subscribers', async () => {
  const messages = ['a', 'b', 'c']
  async function* stream() {
    for (const cursor of messages) yield { data: { jobUpdates: { __typename: 'StreamHeartbeat', cursor } } }
  }
  const urql = new UrqlClient({
    url: 'http://127.0.0.1:1',
    exchanges: [berthExchange({ stream } as unknown as Client)],
  })
  const seen: unknown[] = []
  let hasEnded = false
  urql.subscription('subscription { jobUpdates { __typename } }', {}).subscribe(({ data, error, hasNext }) => {
    hasEnded = !hasNext
    if (hasEnded) return
    seen.push(error?.message ?? data?.jobUpdates.cursor)
    throw new Error(`shown ${seen.length}`)
  })
  await until(() => seen.length === 3 || hasEnded, { what: 'the messages' })
  expect(seen).toEqual(messages)
  await until(() => uncaught.length === 3, { what: 'the errors' })
  expect(uncaught).toEqual(['shown 1', 'shown 2', 'shown 3'])
})

it('an outage listener that throws does not prevent the calls of other listeners', async () => {
  const outages = createOutages(() => new Promise(() => {}))
  let calls = 0
  outages.onChange(() => {
    throw new Error('listener')
  })
  outages.onChange(() => calls++)
  outages.track().begins(new RequestFailed('UNREACHABLE', 'away'))
  expect(calls).toBe(1)
  await until(() => uncaught.length === 1, { what: 'the error' })
  expect(uncaught).toEqual(['listener'])
})
