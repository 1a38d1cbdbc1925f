import {
  type Exchange,
  type ExchangeInput,
  makeOperation,
  subscriptionExchange,
  type Operation as UrqlOperation,
} from '@urql/core'
import type { Cache, CacheExchangeOpts, UpdateResolver } from '@urql/exchange-graphcache'
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
  return (input) =>
    subscriptionExchange({
      enableAllOperations: true,
      forwardSubscription: (body, request) => ({
        subscribe(sink) {
          const leave = new AbortController()
          // The exchange for persisted queries sends only the hash in the body.
          const operation = { ...body, query: body.query ?? '' }
          const run = async () => {
            for await (const answer of readAnswers(client, operation, { kind: request.kind, signal: leave.signal })) {
              const { data } = fresh.of({ query: request.query, variables: body.variables as object }, answer.data)
              // urql calls the subscribers of the page synchronously within `next`.
              runUserCallback(() => sink.next({ ...answer, data } as Parameters<typeof sink.next>[0]))
            }
            if (request.kind === 'subscription') endSubscription(input, request)
            else sink.complete()
          }
          run().catch((error: unknown) => {
            if (!leave.signal.aborted) sink.error(error)
          })
          return { unsubscribe: () => leave.abort() }
        },
      }),
    })(input)
}

/** `sink.complete` would deliver the last result of a subscription again, with `hasNext: false`. */
const endSubscription = ({ client }: ExchangeInput, request: UrqlOperation) =>
  client.reexecuteOperation(makeOperation('teardown', request, request.context))

async function* readAnswers(
  client: Client,
  operation: Operation,
  { kind, signal }: { kind: string; signal: AbortSignal },
) {
  if (kind === 'subscription') yield* client.stream<Record<string, unknown>>(operation, signal)
  else yield await client.ask<Record<string, unknown>>(operation, signal)
}

const removeDeleted: UpdateResolver = (result, _args, cache) => {
  for (const id of findDeletedJobIds(result)) {
    unlinkFromLists(cache, `Job:${id}`)
    cache.invalidate({ __typename: 'Job', id })
  }
}

/** A list that links to an invalidated job would be read again. */
function unlinkFromLists(cache: Cache, job: string) {
  for (const { fieldName, fieldKey } of cache.inspectFields('Query')) {
    const list = fieldName === 'jobs' ? cache.resolve('Query', fieldKey) : null
    if (typeof list !== 'string') continue
    const unlink = (field: string, isDeleted: (item: string) => boolean) => {
      const items = cache.resolve(list, field)
      if (!isKeys(items) || !items.some(isDeleted)) return
      cache.link(
        list,
        field,
        items.filter((item) => !isDeleted(item)),
      )
    }
    unlink('nodes', (node) => node === job)
    unlink('edges', (edge) => cache.resolve(edge, 'node') === job)
  }
}

const isKeys = (items: unknown): items is string[] =>
  Array.isArray(items) && items.every((item) => typeof item === 'string')

/**
 * Graphcache without a `schema` warns of the fields of other union members; with a `schema` it would throw at a member
 * that is new.
 */
const isOfOtherMember = (message: string) => /^Invalid undefined: .*\(Caused At: .*Fragment/s.test(message)

type GraphcacheOptions = Partial<CacheExchangeOpts> & {
  updates: {
    Mutation: Record<'deleteJob', UpdateResolver>
    Subscription: Record<'jobUpdates' | 'jobStatus' | 'tail', UpdateResolver>
  }
}

/** For `cacheExchange(graphcacheOptions)` of Graphcache, which needs `possibleTypes` to match `... on Problem`. */
export const graphcacheOptions: GraphcacheOptions = {
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
