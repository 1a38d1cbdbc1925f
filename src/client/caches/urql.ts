import { type Exchange, subscriptionExchange } from '@urql/core'
import type { Cache, CacheExchangeOpts, UpdateResolver } from '@urql/exchange-graphcache'
import { parse } from 'graphql'
import type { Operation } from '../connection/http.ts'
import { runUserCallback } from '../connection/user-callbacks.ts'
import { embeddedTypes, possibleTypes } from '../generated/cache.ts'
import type { Client } from '../jobs/client.ts'
import { createFreshResults, findDeletedJobIds } from './fresh-results.ts'

/**
 * The package entry `@berth-jobs/berth/urql`, for urql 5: a terminating exchange over a Berth client. Subscriptions
 * survive disconnections and server restarts, deleted jobs leave Graphcache, and older data never replace newer rows.
 */

export function berthExchange(client: Client): Exchange {
  const fresh = createFreshResults()
  return subscriptionExchange({
    enableAllOperations: true,
    forwardSubscription: (body, { kind }) => ({
      subscribe(sink) {
        const leave = new AbortController()
        const operation = { ...body, query: body.query ?? '' }
        const query = parse(operation.query)
        const run = async () => {
          for await (const answer of answersOf(client, operation, { kind, signal: leave.signal })) {
            const { data } = fresh.of({ query, variables: body.variables as object }, answer.data)
            // urql calls the subscribers of the page synchronously within `next`.
            runUserCallback(() => sink.next({ ...answer, data } as Parameters<typeof sink.next>[0]))
          }
          sink.complete()
        }
        run().catch((error: unknown) => {
          if (!leave.signal.aborted) sink.error(error)
        })
        return { unsubscribe: () => leave.abort() }
      },
    }),
  })
}

async function* answersOf(
  client: Client,
  operation: Operation,
  { kind, signal }: { kind: string; signal: AbortSignal },
) {
  if (kind === 'subscription') yield* client.stream<Record<string, unknown>>(operation, signal)
  else yield await client.ask<Record<string, unknown>>(operation, signal)
}

const removeDeleted: UpdateResolver = (result, _args, cache: Cache) => {
  for (const id of findDeletedJobIds(result)) cache.invalidate({ __typename: 'Job', id })
}

/**
 * Graphcache without a `schema` warns of the fields of other union members; with a `schema` it would throw at a member
 * that is new.
 */
const isOfOtherMember = (message: string) => /^Invalid undefined: .*\(Caused At: .*Fragment/s.test(message)

/** For `cacheExchange(graphcacheOptions)` of Graphcache, which needs `possibleTypes` to match `... on Problem`. */
export const graphcacheOptions: Partial<CacheExchangeOpts> = {
  possibleTypes,
  keys: Object.fromEntries(embeddedTypes.map((name) => [name, () => null])),
  updates: {
    Mutation: { deleteJob: removeDeleted },
    Subscription: { jobUpdates: removeDeleted, jobStatus: removeDeleted, tail: removeDeleted },
  },
  logger(severity, message) {
    if (severity !== 'debug' && !isOfOtherMember(message)) console[severity](message)
  },
}
