import { parentPort, workerData } from 'node:worker_threads'
import { simulateInDatabase, withTemplate } from './database-stage.ts'
import { simulateInMemory } from './memory-stage.ts'
import type { Result } from './simulation.ts'

/** Plays its seeds, one after the other. */
export interface Share {
  first: number
  last: number
  every: number
  steps: number
  database: boolean
}

const { first, last, every, steps, database }: Share = workerData

async function playAll(play: (seed: number) => Promise<Result>): Promise<void> {
  for (let seed = first; seed <= last; seed += every)
    try {
      parentPort?.postMessage(await play(seed))
    } catch (error) {
      throw new Error(`Seed ${seed}: ${error}`, { cause: error })
    }
}

if (database) await withTemplate((templateUrl) => playAll((seed) => simulateInDatabase(templateUrl, seed, steps)))
else await playAll((seed) => simulateInMemory(seed, steps))
