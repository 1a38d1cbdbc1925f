import { readConditions } from '../../src/domain/conditions/active-conditions.ts'
import type { ActiveCondition } from '../../src/domain/conditions/condition.ts'
import type { ConditionName } from '../../src/domain/conditions/conditions.ts'
import { type ConditionWatch, createConditionWatch } from '../../src/domain/conditions/evaluate.ts'
import type { Domain } from '../../src/domain/domain.ts'
import type { Db } from '../../src/platform/db.ts'
import { GaugeMeter } from '../../src/platform/server-gauges.ts'
import { createFakeClock } from './clock.ts'
import type { TestDatabase } from './database.ts'
import { createTestDomain, type TestDomainAndDatabase, type TestDomainOptions } from './domain.ts'

/** Opens a domain over its own database, whose conditions are evaluated by servers. */
export interface ConditionWorld extends TestDomainAndDatabase, TestConditions {}

export async function createConditionWorld(
  domainOptions: TestDomainOptions = {},
  watchOptions: Omit<TestConditionsOptions, 'domain' | 'database'> = {},
): Promise<ConditionWorld> {
  const world = await createTestDomain(domainOptions)
  return { ...world, ...watchConditions({ domain: world.it.domain, database: world.database, ...watchOptions }) }
}

/** Servers that evaluate the conditions of a test database every 10 s of its time. */
export interface TestConditions {
  watches: ConditionWatch[]
  /** Advances the time by 10 s, in which every server evaluates once. */
  look(): Promise<void>
  /** Advances the time until the condition holds, for at most a minute. */
  begins(name: ConditionName): Promise<ActiveCondition>
  /** Advances the time until the condition is over, for at most a minute. */
  ends(name: ConditionName): Promise<void>
  find(name: ConditionName): Promise<ActiveCondition | undefined>
}

export interface TestConditionsOptions {
  domain: Domain
  database: Pick<TestDatabase, 'db' | 'moveTime'>
  servers?: readonly { version?: string; pools?: Record<string, string> }[]
  dataDir?: string
  secretsFile?: string
  secretKeys?: readonly string[]
  /** The connections that the servers measure; default: those of the domain. */
  measuredDb?: Db
  /** Called after each advance, before the servers evaluate. */
  beforeLook?: () => Promise<unknown>
  stalled?: ReadonlyMap<string, { readStalledMs(): number | null }>
}

const lookMs = 10_000
const looksMax = 6

export function watchConditions(options: TestConditionsOptions): TestConditions {
  const {
    domain,
    database,
    servers = [{}],
    dataDir = '/',
    secretsFile = null,
    secretKeys = [],
    measuredDb = domain.db,
    stalled = new Map(),
    beforeLook,
  } = options
  const clock = createFakeClock()
  const watches = servers.map(({ version = '0.1.0', pools = {} }, index) =>
    createConditionWatch(
      { ...domain, clock },
      {
        server: { id: `host${index}:1:1`, host: `host${index}`, pid: 1, version, pools },
        meter: new GaugeMeter({
          db: measuredDb,
          clock: domain.clock,
          time: domain.time,
          dataDir,
          secretsFile,
          secretKeys,
          stalled,
        }),
      },
    ),
  )
  const find = async (name: string) =>
    (await readConditions(database.db.sql)).active.find((condition) => condition.name === name)

  async function look() {
    await database.moveTime(lookMs)
    await clock.advance(lookMs)
    await beforeLook?.()
    for (const watch of watches) await watch.evaluateIfDue()
  }

  return {
    watches,
    look,
    find,
    async begins(name) {
      for (let looks = 0; looks < looksMax; looks++) {
        await look()
        const found = await find(name)
        if (found) return found
      }
      throw new Error(`${name} did not begin within a minute`)
    },
    async ends(name) {
      for (let looks = 0; looks < looksMax; looks++) {
        await look()
        if (!(await find(name))) return
      }
      throw new Error(`${name} is not over after a minute`)
    },
  }
}
