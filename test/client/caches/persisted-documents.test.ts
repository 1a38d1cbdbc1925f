import { ApolloClient, ApolloLink, gql, InMemoryCache } from '@apollo/client'
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries'
import { createRequest, Client as UrqlClient } from '@urql/core'
import { expect, it } from 'vitest'
import { cacheOptions, createBerthLink } from '../../../src/client/caches/apollo.ts'
import { berthExchange } from '../../../src/client/caches/urql.ts'
import type { Operation } from '../../../src/client/connection/http.ts'
import type { Client } from '../../../src/client/jobs/client.ts'

/** A client that keeps the operations that it sends. */
function recordOperations() {
  const sent: Operation[] = []
  const ask = async (operation: Operation) => {
    sent.push(operation)
    return { data: { viewer: { __typename: 'Viewer', scopes: [] } } }
  }
  return { sent, client: { ask } as unknown as Client }
}

const named = { query: '', extensions: { persistedQuery: { version: 1 as const, sha256Hash: 'abc' } } }

it('the Apollo link sends only the hash of a persisted document', async () => {
  const { sent, client } = recordOperations()
  const persisted = new PersistedQueryLink({ generateHash: () => 'abc' })
  const link = ApolloLink.from([persisted, createBerthLink(client)])
  await new ApolloClient({ cache: new InMemoryCache(cacheOptions), link }).query({
    query: gql('{ viewer { scopes } }'),
  })
  expect(sent).toMatchObject([named])
})

it('the urql exchange sends only the hash of a persisted document', async () => {
  const { sent, client } = recordOperations()
  const urql = new UrqlClient({ url: 'http://127.0.0.1:1', exchanges: [berthExchange(client)] })
  const request = createRequest('{ viewer { scopes } }', {}, named.extensions)
  const { error, data } = await urql.executeQuery(request).toPromise()
  expect({ error, data }).toMatchObject({ error: undefined, data: { viewer: { scopes: [] } } })
  expect(sent).toMatchObject([named])
})
