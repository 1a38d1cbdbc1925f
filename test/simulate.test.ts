import { describe, expect, inject, test } from 'vitest'
import { simulateInDatabase } from '../simulate/database-stage.ts'
import { simulateInMemory } from '../simulate/memory-stage.ts'
import { range } from './support/pool.ts'

/** A few of the seeds of `npm run simulate`; each failure names its own. */
describe('random events in a simulated pool', () => {
  test('allocate nothing twice with tables in memory, and leave an idle leader no work that is due', async () => {
    const results = []
    for (const seed of range(1, 11)) results.push(await simulateInMemory(seed, 300))
    expect(results.filter(({ broken }) => broken)).toEqual([])
    expect(results.reduce((sum, { starts }) => sum + starts, 0)).toBeGreaterThan(100)
  })

  test('are determined by the seed', async () => {
    expect(await simulateInMemory(7, 300)).toEqual(await simulateInMemory(7, 300))
  })

  test('pass the self-check with PostgreSQL, and the published views are correct', async () => {
    const results = []
    for (const seed of [1]) results.push(await simulateInDatabase(inject('templateUrl'), seed, 100))
    expect(results.filter(({ broken }) => broken)).toEqual([])
  })
})
