import { readConditions } from '../../src/domain/conditions/active-conditions.ts'
import type { ActiveCondition } from '../../src/domain/conditions/condition.ts'
import type { ConditionName } from '../../src/domain/conditions/conditions.ts'
import { type ConditionWatch, createConditionWatch } from '../../src/domain/conditions/evaluate.ts'
import type { Domain } from '../../src/domain/domain.ts'
import { GaugeMeter } from '../../src/platform/server-gauges.ts'
import { createFakeClock } from './clock.ts'
import type { TestDatabase } from './database.ts'

/** Servers that evaluate the conditions of a test database every 10 s of its time. */
export interface TestConditions {
  watches: ConditionWatch[]
  /** Moves time on by 10 s, in which every server looks once. */
  look(): Promise<void>
  /** Looks until the condition holds, for at most a minute. */
  begins(name: ConditionName): Promise<ActiveCondition>
  /** Looks until the condition is over, for at most a minute. */
  ends(name: ConditionName): Promise<void>
  find(name: ConditionName): Promise<ActiveCondition | undefined>
}

export interface TestConditionsOptions {
  domain: Domain
  database: Pick<TestDatabase, 'db' | 'moveTime'>
  servers?: readonly { version?: string; pools?: Record<string, string> }[]
  dataDir?: string
  stalled?: ReadonlyMap<string, { readStalledMs(): number | null }>
}

const lookMs = 10_000
const looksMax = 6

export function watchConditions(options: TestConditionsOptions): TestConditions {
  const { domain, database, servers = [{}], dataDir = '/', stalled = new Map() } = options
  const clock = createFakeClock()
  const watches = servers.map(({ version = '0.1.0', pools = {} }, index) =>
    createConditionWatch(
      { ...domain, clock },
      {
        server: { id: `host${index}:1:1`, host: `host${index}`, pid: 1, version, pools },
        meter: new GaugeMeter({ db: domain.db, clock: domain.clock, time: domain.time, dataDir, stalled }),
      },
    ),
  )
  const find = async (name: string) =>
    (await readConditions(database.db.sql)).active.find((condition) => condition.name === name)

  async function look() {
    await database.moveTime(lookMs)
    await clock.advance(lookMs)
    for (const watch of watches) await watch.look()
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
