import { parentPort, workerData } from 'node:worker_threads'
import { simulateInDatabase } from './database-stage.ts'
import { simulateInMemory } from './memory-stage.ts'
import type { Result } from './simulation.ts'

/** The seeds of a worker, which it plays one after the other. */
export interface Share {
  first: number
  last: number
  every: number
  steps: number
  /** null: tables in memory. */
  templateUrl: string | null
}

const { first, last, every, steps, templateUrl }: Share = workerData

const play = (seed: number): Promise<Result> =>
  templateUrl ? simulateInDatabase(templateUrl, seed, steps) : simulateInMemory(seed, steps)

for (let seed = first; seed <= last; seed += every)
  try {
    parentPort?.postMessage(await play(seed))
  } catch (error) {
    throw new Error(`Seed ${seed}: ${error}`, { cause: error })
  }
