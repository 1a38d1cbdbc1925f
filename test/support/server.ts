import { afterAll } from 'vitest'
import type { Viewer } from '../../src/domain/access.ts'
import type { Domain } from '../../src/domain/domain.ts'
import { createSequencer } from '../../src/domain/jobs/sequence.ts'
import type { DeclaredPool } from '../../src/domain/machines/pools.ts'
import { createFeed, type Feed } from '../../src/feed/feed.ts'
import { createPoolNodeWatch, type NodeWatch } from '../../src/feed/node-watch.ts'
import { createQueueWatch, type QueueWatch } from '../../src/feed/queue-watch.ts'
import {
  type Authenticator,
  createAuthenticator,
  createSingleUserAuthenticator,
} from '../../src/graphql/callers/authenticate.ts'
import type { OidcRules } from '../../src/graphql/callers/oidc.ts'
import type { ServerFacts } from '../../src/graphql/rows/context.ts'
import { createListReads, type ListReads } from '../../src/graphql/rows/list-reads.ts'
import { createUserDomains } from '../../src/graphql/rows/user-domains.ts'
import type { Tls } from '../../src/graphql/transport/certificate.ts'
import { ConsoleFiles } from '../../src/graphql/transport/console-files.ts'
import { createReadiness } from '../../src/graphql/transport/health.ts'
import { Server, type ServerConfig } from '../../src/graphql/transport/server.ts'
import { createLogTail, type LogTail } from '../../src/logs/follow.ts'
import { openDb } from '../../src/platform/db.ts'
import type { DiskWatch } from '../../src/platform/disk.ts'
import { createLog, type Log } from '../../src/platform/log.ts'
import { type ReachedPools, Sessions } from '../../src/sessions/sessions.ts'
import { createDatabase, type TestDatabase, type TestDatabaseOptions } from './database.ts'
import { createTestDomainOver, type TestDomain } from './domain.ts'
import { createDoor, type Door } from './outage.ts'
import { recordStatements } from './recorded-statements.ts'

const liveConnectionsMax = 4
const listConnectionsMax = 3
/** Maximum number of ordinary connections that the requests of one user use at the same time. */
export const statementsPerUserMax = 2
const behindDoorMax = 10

/** A real server over a real database, without a scheduler: submitted jobs stay QUEUED. */
export interface TestServer extends TestDomain {
  readonly url: string
  readonly feed: Feed
  readonly lists: ListReads
  readonly logTail: LogTail
  readonly queueWatch: QueueWatch
  readonly nodeWatch: NodeWatch
  /** The proxy in front of the database, if `hasDoor` is set. */
  readonly door: Door | null
  /** Advances database time. */
  moveTime(ms: number): Promise<void>
  /** Starts a list of the following statements, without those of the sequencer, which polls. */
  countStatements(): string[]
  /** Stops the server alone; safe to call before disposal. */
  stop(): Promise<void>
}

export interface TestServerOptions extends TestDatabaseOptions {
  config?: Partial<ServerConfig>
  /** true: the server reaches its database through a proxy that can be shut. */
  hasDoor?: boolean
  /** false: several users, with four-eyes approval. */
  singleUser?: boolean
  /** Facts of `serverInfo`. */
  facts?: Partial<ServerFacts>
  tls?: Tls
  log?: Log
  keepAliveMs?: number
  drainMsMax?: number
  connectionsMax?: number
  disk?: Pick<DiskWatch, 'findProblem'>
  /** Executors that sessions can reach. Default: none. */
  reached?: ReachedPools
  /** Default: a console that is not built. */
  console?: ConsoleFiles
  /** Fields of the declaration of its pool that differ from the default. */
  pool?: Partial<DeclaredPool>
  /** The caller; default: the local user. */
  authenticate?: (authorization: string | undefined, known: KnownCallers) => Viewer | null
  /** Tokens and JWTs as in production, instead of the local user. */
  logIn?: { oidc: OidcRules | null }
}

interface KnownCallers {
  users: ReadonlyMap<string, Viewer>
  admin: Viewer
}

/** The token is the name of a user; any other token is that of the admin. */
export const authenticateByName = (authorization: string | undefined, { users, admin }: KnownCallers): Viewer =>
  users.get(authorization?.replace('Bearer ', '') ?? '') ?? admin

const configDefaults = {
  host: '127.0.0.1',
  port: 0,
  allowedHosts: [],
  jobsHost: null,
  allowedOrigins: [],
  publicUrl: null,
  allowedHeaders: [],
  introspection: true,
  trustedProxies: [],
  documents: { byId: new Map(), freeText: 'ALL' },
  rateLimits: { costPerMinute: null, submissionsPerMinute: null },
} as const

const factDefaults = {
  version: '0.0.0',
  eventRetentionDays: 30,
  logRetentionDays: null,
  oidc: null,
  title: 'Berth',
  accent: null,
  publicUrl: null,
  jobsHost: null,
  snapshotLimits: { bytesMax: 2 ** 30, filesMax: 50_000, userBytesMax: 20 * 2 ** 30 },
  links: [],
}

export async function openTestServer(options?: TestServerOptions): Promise<TestServer> {
  const server = await startServer(options)
  afterAll(() => server[Symbol.asyncDispose]())
  return server
}

export async function startServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { config = {}, keepAliveMs, drainMsMax, connectionsMax, authenticate, logIn, pool = {} } = options
  const database = await createDatabase(options)
  const door = options.hasDoor ? await createDoor(database.url) : null
  const connections = door ? openBehind(door) : database
  const made = await createTestDomainOver(connections.db, {
    pool,
    singleUser: options.singleUser ?? true,
    ...(options.log && { log: options.log }),
  })
  const { domain, admin } = made
  const users = new Map<string, Viewer>()
  const stopSequencer = startSequencer({ ...domain, db: connections.more('sequencer', 1) })
  const reads = openReads(domain, connections)
  const { live, userDomains, lists, feed, logTail, queueWatch, nodeWatch } = reads
  const facts = { ...factDefaults, singleUser: !logIn, ...options.facts }
  const everybody: Authenticator = async ({ authorization }) => {
    const viewer = authenticate?.(authorization, { users, admin })
    return viewer ? { viewer } : 'unknown'
  }
  const withoutLogIn = authenticate ? everybody : createSingleUserAuthenticator(domain, admin, () => false)
  const server = new Server({
    rooms: { domain, userDomains, live, lists, feed, logTail, queueWatch, nodeWatch, facts, log: domain.log },
    config: { ...configDefaults, singleUser: !logIn, ...config },
    authenticate: logIn ? createAuthenticator(domain, logIn.oidc) : withoutLogIn,
    console: options.console ?? new ConsoleFiles('/nonexistent'),
    sessions: new Sessions(domain, options.reached ?? new Map()),
    checkReadiness: createReadiness(domain, { disk: options.disk ?? { findProblem: async () => null } }),
    ...defined({ keepAliveMs, drainMsMax, connectionsMax }),
    tls: options.tls ?? null,
  })
  const { url } = await server.listen()
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= server.close()
    return stopped
  }
  const statements = recordStatements([domain.db.pool, ...reads.pools])
  return {
    ...made,
    async user(name, level, allow) {
      const viewer = await made.user(name, level, allow)
      users.set(name, viewer)
      return viewer
    },
    url,
    feed,
    lists,
    logTail,
    queueWatch,
    nodeWatch,
    door,
    async moveTime(ms) {
      await database.moveTime(ms)
      await made.time.look()
    },
    countStatements: statements.begin,
    stop,
    async [Symbol.asyncDispose]() {
      await stop()
      statements.end()
      await stopSequencer()
      await reads.close()
      await made[Symbol.asyncDispose]()
      await connections.close()
      await door?.shut()
      await database.close()
    },
  }
}

type Connections = Pick<TestDatabase, 'db' | 'more' | 'close'>

function openBehind({ url }: Door): Connections {
  const more = (_name: string, connectionsMax: number) =>
    openDb({ address: { url }, connectionsMax, log: createLog('silent'), applicationName: 'berth test' })
  const db = more('test', behindDoorMax)
  return { db, more, close: () => db.close() }
}

/** Lists and streams, each with its own connections as in production. */
function openReads(domain: Domain, { more }: Connections) {
  const [liveDb, listsDb] = [more('live', liveConnectionsMax), more('lists', listConnectionsMax)]
  const live = { ...domain, db: liveDb }
  return {
    live,
    userDomains: createUserDomains(domain, statementsPerUserMax),
    lists: createListReads(listsDb),
    feed: createFeed(live),
    logTail: createLogTail(live),
    queueWatch: createQueueWatch(live),
    nodeWatch: createPoolNodeWatch(live),
    pools: [liveDb.pool, listsDb.pool],
    close: () => Promise.all([liveDb.close(), listsDb.close()]),
  }
}

function startSequencer(domain: Domain): () => Promise<void> {
  const sequencer = createSequencer(domain)
  sequencer.start()
  return async () => {
    await sequencer.stop()
    await domain.db.close()
  }
}

const defined = (options: Record<string, number | undefined>): Record<string, number> =>
  Object.fromEntries(Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
