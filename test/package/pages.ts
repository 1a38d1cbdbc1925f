import { ApolloClient, InMemoryCache } from '@apollo/client'
import { cacheOptions, createBerthLink } from '@berth-jobs/berth/apollo'
import { createClient } from '@berth-jobs/berth/client'
import { defineJob } from '@berth-jobs/berth/handler'
import { berthExchange, graphcacheOptions } from '@berth-jobs/berth/urql'
import { Client } from '@urql/core'
import { cacheExchange } from '@urql/exchange-graphcache'

/** Pages on both caches, and a handler, as users write them. */
const client = createClient({ url: 'http://a' })
const cache = new InMemoryCache(cacheOptions)
export const apollo = new ApolloClient({ cache, link: createBerthLink(client, { cache }) })
export const urql = new Client({
  url: 'http://a',
  exchanges: [cacheExchange(graphcacheOptions), berthExchange(client)],
})
export const handler = typeof defineJob
