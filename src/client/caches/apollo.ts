import {
  ApolloLink,
  type InMemoryCache,
  type InMemoryCacheConfig,
  Observable,
  type Reference,
  type StoreObject,
} from '@apollo/client'
import { getMainDefinition } from '@apollo/client/utilities'
import { print } from 'graphql'
import type { Answer } from '../connection/http.ts'
import { embeddedTypes, listFields, possibleTypes } from '../generated/cache.ts'
import type { Client } from '../jobs/client.ts'
import { createFreshResults, type Fresh } from './fresh-results.ts'

/**
 * The package entry `@berth-jobs/berth/apollo`, for Apollo Client 4: a terminating link over a Berth client.
 * Subscriptions survive disconnections and server restarts, deleted jobs leave the cache, and older data never replace
 * newer rows.
 */

/** Subscriptions whose messages each replace the previous one. */
const streams = ['jobStatus', 'jobUpdates', 'tail', 'workloadStatus', 'nodeUpdates']

const disableMerge = (fields: readonly string[]) => ({
  fields: Object.fromEntries(fields.map((name) => [name, { merge: false }])),
})

/**
 * Options for `new InMemoryCache(cacheOptions)`. They make `... on Problem` match. A list or page replaces the previous
 * one as a whole, because its rows and its `asOf` belong together. Other objects without an id keep the fields that
 * different documents select.
 */
export const cacheOptions: InMemoryCacheConfig = {
  possibleTypes,
  typePolicies: {
    ...Object.fromEntries(embeddedTypes.map((name) => [name, { merge: !name.endsWith('Connection') }])),
    ...Object.fromEntries(Object.entries(listFields).map(([name, fields]) => [name, disableMerge(fields)])),
    Subscription: disableMerge(streams),
  },
}

/** A list of objects as the cache stores it. */
interface StoredList extends StoreObject {
  edges?: StoreObject[]
}

/** Deleted jobs are evicted from the cache. */
export function createBerthLink(client: Client, { cache }: { cache?: InMemoryCache } = {}): ApolloLink {
  const fresh = createFreshResults()
  return new ApolloLink(
    (operation) =>
      new Observable((observer) => {
        const leave = new AbortController()
        const run = async () => {
          for await (const answer of readAnswers(client, operation, leave.signal))
            observer.next(makeFresh(fresh, operation, answer, cache))
          observer.complete()
        }
        run().catch((error: unknown) => {
          if (!leave.signal.aborted) observer.error(error)
        })
        return () => leave.abort()
      }),
  )
}

async function* readAnswers(client: Client, operation: ApolloLink.Operation, signal: AbortSignal) {
  const { query, variables, operationName, extensions } = operation
  // The link for persisted queries names the document by its hash alone.
  const { http } = operation.getContext() as { http?: { includeQuery?: boolean } }
  const asked = { query: http?.includeQuery === false ? '' : print(query), variables, operationName, extensions }
  const definition = getMainDefinition(query)
  const isSubscription = definition.kind === 'OperationDefinition' && definition.operation === 'subscription'
  if (isSubscription) yield* client.stream<Record<string, unknown>>(asked, signal)
  else yield await client.ask<Record<string, unknown>>(asked, signal)
}

function makeFresh(
  fresh: Fresh,
  operation: ApolloLink.Operation,
  answer: Answer<Record<string, unknown>>,
  cache?: InMemoryCache,
) {
  const { data, deletedJobIds } = fresh.of(operation, answer.data)
  if (cache && deletedJobIds.length > 0) removeJobs(cache, deletedJobIds)
  return { ...answer, data } as ApolloLink.Result
}

/** Apollo hides evicted `nodes` by itself. A list with an edge of an evicted job would be read again. */
function removeJobs(cache: InMemoryCache, ids: readonly string[]) {
  const keys = ids.map((id) => cache.identify({ __typename: 'Job', id }) ?? '')
  cache.batch({
    update() {
      cache.modify<{ jobs: Reference | StoredList }>({
        fields: {
          jobs(list, { readField }) {
            if (!('edges' in list) || !list.edges) return list
            const isKept = (edge: StoreObject) => !keys.includes(readField<Reference>('node', edge)?.__ref ?? '')
            return { ...list, edges: list.edges.filter(isKept) }
          },
        },
      })
      for (const id of keys) cache.evict({ id })
    },
  })
}
