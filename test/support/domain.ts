import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeEach, expect } from 'vitest'
import { createViewer, type UserLevel, type Viewer } from '../../src/domain/access.ts'
import { type Domain, topics } from '../../src/domain/domain.ts'
import { newId } from '../../src/domain/ids.ts'
import { sequenceOnce } from '../../src/domain/jobs/sequence.ts'
import { applyPools, type DeclaredNode, type DeclaredPool, ensureLocalUser } from '../../src/domain/machines/pools.ts'
import { createSecretKeys } from '../../src/domain/secret-keys.ts'
import { findViolations } from '../../src/domain/selfcheck/selfcheck.ts'
import { type Clock, systemClock } from '../../src/platform/clock.ts'
import { type DatabaseTime, readDatabaseTime } from '../../src/platform/database-time.ts'
import type { Db } from '../../src/platform/db.ts'
import { createLog, type Log } from '../../src/platform/log.ts'
import { Wakeups } from '../../src/platform/wakeup.ts'
import {
  createDatabase,
  openDatabaseForEach,
  proxyTo,
  type TestDatabase,
  type TestDatabaseOptions,
} from './database.ts'
import { submitJobs } from './submit-jobs.ts'

/** A domain over a test database, with a pool `sim` of one node (or the given nodes) behind the default queue. */
export interface TestDomain extends AsyncDisposable {
  domain: Domain
  /** The time of the domain. */
  time: DatabaseTime
  admin: Viewer
  /** Creates a user of this level. */
  user(name: string, level: UserLevel, allow?: readonly string[]): Promise<Viewer>
  /** Submits a job that must be accepted. Returns its id. */
  submit(spec?: Record<string, unknown>, viewer?: Viewer): Promise<string>
  sequence(): Promise<number>
}

export const simNode: DeclaredNode = {
  name: 'n1',
  cpuMillis: 16_000,
  memoryBytes: 64 * 1024 ** 3,
  cpuModel: null,
  infiniband: false,
  devices: [],
}

/** V100 with 32 GiB. */
export const simDevices = (count: number): DeclaredNode['devices'] =>
  Array.from({ length: count }, (_, index) => ({ index, model: 'V100', memoryGib: 32, tensorCores: true, cuda: [] }))

export interface TestDomainOverOptions {
  nodes?: readonly DeclaredNode[]
  clock?: Clock
  notify?: boolean
  singleUser?: boolean
  pool?: Partial<DeclaredPool>
  log?: Log
}

export type TestDomainOptions = TestDomainOverOptions & TestDatabaseOptions

/** Creates a domain and its database, which are closed together. */
export interface TestDomainAndDatabase extends AsyncDisposable {
  database: TestDatabase
  it: TestDomain
}

export async function createTestDomain(options?: TestDomainOptions): Promise<TestDomainAndDatabase> {
  await using opened = new AsyncDisposableStack()
  const database = opened.use(await createDatabase(options))
  const it = opened.use(await createTestDomainOver(database.db, options))
  const kept = opened.move()
  return { database, it, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

export async function openTestDomain(options?: TestDomainOptions): Promise<TestDomainAndDatabase> {
  const opened = await createTestDomain(options)
  afterAll(() => opened[Symbol.asyncDispose]())
  return opened
}

/**
 * Creates a database and a domain for each test. `database` and `it` are proxies to those of the current test: read
 * their fields inside a test. After each test the self-check must find no violation.
 */
export function openTestDomainForEach(options?: TestDomainOptions) {
  const database = openDatabaseForEach(options)
  let current: TestDomain | undefined
  const it = proxyTo(() => current)
  beforeEach(async () => {
    current = await createTestDomainOver(database.db, options)
  })
  afterEach(async () => {
    expect(await findViolations(database.db.sql)).toEqual([])
    await it[Symbol.asyncDispose]()
  })
  const sql = <Row = Record<string, unknown>>(text: string, values: unknown[] = []) =>
    database.db.sql.query<Row>(text, values)
  return { database, it, sql }
}

/** Creates a domain over a given database. */
export async function createTestDomainOver(db: Db, options: TestDomainOverOptions = {}): Promise<TestDomain> {
  const { nodes = [simNode], clock = systemClock, notify = false, singleUser = true, pool = {} } = options
  const { log = createLog('silent') } = options
  const wakeups = new Wakeups({ address: notify ? db : null, topics, clock, log })
  const time = await readDatabaseTime(db.sql, systemClock)
  const secretKeys = createSecretKeys([randomBytes(32)])
  const domain: Domain = { db, wakeups, clock, time, log, singleUser, secretKeys }
  await applyPools(domain, {
    pools: [{ name: 'sim', policy: 'PRIORITY', executors: ['simulated'], relaxReplicas: true, nodes, ...pool }],
    queues: [{ name: 'default', pool: 'sim', native: {} }],
  })
  const admin = plainViewer(await ensureLocalUser(domain, 'local'), 'local', 'ADMIN')
  return {
    domain,
    time,
    admin,
    async user(name, level, allow = []) {
      const id = newId('user', time.nowMs())
      await db.sql.query('INSERT INTO "user" (id, name, level, allow) VALUES ($1, $2, $3::user_level, $4)', [
        id,
        name,
        level,
        allow,
      ])
      return createViewer({ id, name, level, allow, deny: [] })
    },
    async submit(spec = {}, viewer = admin) {
      const [outcome] = await submitJobs(domain, viewer, [{ spec: { command: ['true'], ...spec } }])
      if (!outcome || !('jobId' in outcome)) throw outcome ?? new Error('No outcome')
      if (outcome instanceof Error) throw outcome
      return outcome.jobId
    },
    sequence: async () => (await sequenceOnce(domain)).found,
    [Symbol.asyncDispose]: () => wakeups.stop(),
  }
}

const plainViewer = (id: string, name: string, level: UserLevel): Viewer =>
  createViewer({ id, name, level, allow: [], deny: [] })
