import { describe, expect, inject, test } from 'vitest'
import { simulateInDatabase } from '../simulate/database-stage.ts'
import { simulateInMemory } from '../simulate/memory-stage.ts'
import { range } from './support/pool.ts'

/** A few of the seeds of `npm run simulate`; each failure names its own. */
describe('random events in a simulated pool', () => {
  test('with tables in memory allocate nothing twice, and leave an idle leader without due work', async () => {
    const results = []
    for (const seed of range(1, 11)) results.push(await simulateInMemory(seed, 300))
    expect(results.filter(({ broken }) => broken)).toEqual([])
    expect(results.reduce((sum, { starts }) => sum + starts, 0)).toBeGreaterThan(100)
  })

  test('are determined by the seed', async () => {
    expect(await simulateInMemory(7, 300)).toEqual(await simulateInMemory(7, 300))
  })

  test('with PostgreSQL pass the self-check, and published views are correct', async () => {
    const results = []
    for (const seed of [1]) results.push(await simulateInDatabase(inject('templateUrl'), seed, 100))
    expect(results.filter(({ broken }) => broken)).toEqual([])
  })
})
