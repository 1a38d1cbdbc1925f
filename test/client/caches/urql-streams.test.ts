import { Client as UrqlClient } from '@urql/core'
import { expect, it } from 'vitest'
import { berthExchange } from '../../../src/client/caches/urql.ts'
import type { Client } from '../../../src/client/jobs/client.ts'
import { until } from '../../support/until.ts'

it('a stream delivers each message once until it ends, and a new subscription opens it again', async () => {
  let ended = 0
  async function* stream() {
    for (const cursor of ['a', 'b']) yield { data: { tail: { cursor } } }
    ended++
  }
  const urql = new UrqlClient({
    url: 'http://127.0.0.1:1',
    exchanges: [berthExchange({ stream } as unknown as Client)],
  })
  const parts: unknown[] = []
  const follow = async (ends: number) => {
    urql.subscription('subscription { tail { cursor } }', {}).subscribe(({ data, error }) => {
      parts.push(error ?? data?.tail.cursor)
    })
    await until(() => ended === ends, { what: 'the stream ended' })
    await new Promise((resolve) => setImmediate(resolve))
  }
  await follow(1)
  expect(parts).toEqual(['a', 'b'])
  // urql passes a subscription that it still holds to the next subscriber.
  await follow(2)
  expect(parts).toEqual(['a', 'b', 'a', 'b'])
})
